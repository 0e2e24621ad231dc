// The binomial tree over p ranks, numbered from the root: the parent of a rank is the rank without
// its lowest one bit. (Thakur, Rabenseifner and Gropp 2005, section 4.4.)
#pragma once

#include <vector>

#include "collectives/algorithm.hpp"

namespace ringside {

class Tree {
 public:
  explicit Tree(const Shape& shape);

  // -1 for the root.
  int parent() const { return parent_; }

  // Those with the largest subtrees first.
  const std::vector<int>& children() const { return children_; }

  // Of the farthest rank from the root.
  static int depth(int p);

 private:
  int parent_ = -1;
  std::vector<int> children_;
};

// Throws BadUse when there is no such root.
void check_root(const Comm& comm, std::string_view operation, int root);

}  // namespace ringside
