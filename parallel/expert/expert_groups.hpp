// The groups of expert parallelism in a mesh: ep divides dp x cp, and is no axis of its own.
#pragma once

#include <vector>

#include "parallel/mesh.hpp"

namespace ringside {

// World ranks, in mesh order.
struct ExpertGroups {
  std::vector<int> together;  // ep neighbours in dp x cp, which hold all experts between them
  std::vector<int> holders;   // those of dp x cp with the same place: they hold the same experts
};

// Throws BadUse as require_expert_parallel does.
ExpertGroups expert_groups(const Mesh& mesh, int ep);

// Throws BadUse, with the numbers and the choices that would do, when `ep` does not divide `ranks`,
// those of dp x cp.
void require_expert_parallel(int ep, int ranks);

}  // namespace ringside
