// The ranks of a mesh in lines: neighbours along the innermost axis together, node after node.
#pragma once

#include <string>
#include <vector>

#include "parallel/mesh.hpp"
#include "runtime/topology.hpp"

namespace ringside {

// Ranks that follow each other in one node and differ in one axis alone.
struct GridLine {
  int node = 0;
  int first = 0;  // rank
  int last = 0;
};

// A line also ends where an expert group does.
std::vector<GridLine> grid_lines(const MeshShape& shape, int ep, const Cluster& cluster);

// The place of a rank in its expert group.
int expert_place(const Mesh& mesh, int ep);

// A table; of very many lines those in the middle are left out, and the text says how many.
std::string grid_text(const MeshShape& shape, int ep, const Cluster& cluster);

// "0-7"; "0, 8, 16, 24"; "0, 8, … 504 (64)".
std::string ranks_text(const std::vector<int>& ranks);

}  // namespace ringside
