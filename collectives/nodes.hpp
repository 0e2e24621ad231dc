// The ranks of a group by the node that they are in, for hierarchical algorithms and their claims.
#pragma once

#include <vector>

#include "collectives/algorithm.hpp"

namespace ringside {

class Nodes {
 public:
  explicit Nodes(const Shape& shape);

  // In the order of their lowest ranks.
  int count() const { return static_cast<int>(members_.size()); }

  // Group ranks, ascending.
  const std::vector<int>& members(int node) const {
    return members_[static_cast<std::size_t>(node)];
  }

  int size(int node) const { return static_cast<int>(members(node).size()); }

  // Member `index`, taken modulo the size of the node.
  int member(int node, int index) const;

  int node_of(int rank) const { return node_of_[static_cast<std::size_t>(rank)]; }

  // The place of a rank among the members of its node.
  int local(int rank) const { return local_[static_cast<std::size_t>(rank)]; }

  int largest() const;

 private:
  std::vector<std::vector<int>> members_;
  std::vector<int> node_of_;
  std::vector<int> local_;
};

}  // namespace ringside
