// `ringside mesh`: the ranks of a plan as a grid, and what one of them sends to whom.
#pragma once

#include <cstddef>

#include "models/published_model.hpp"
#include "parallel/mesh_plan.hpp"
#include "runtime/topology.hpp"

namespace ringside {

struct MeshRequest {
  MeshPlan plan{};
  PublishedModel model{};
  std::size_t sequence = 4096;  // tokens of a sample
  Cluster cluster{};
  int rank = 0;
  bool json = false;
};

// Prints the grid, the groups of the rank, and what it sends in a step. Exit code 0.
int mesh_verb(const MeshRequest& request);

}  // namespace ringside
