#include "collectives/tree.hpp"

#include <algorithm>
#include <bit>

namespace ringside {

Tree::Tree(const Shape& shape) {
  const int me = shape.rank;
  const int lowest = me & -me;
  if (me > 0) {
    parent_ = me - lowest;
  }
  const int below =
      me > 0 ? lowest : static_cast<int>(std::bit_ceil(static_cast<unsigned>(shape.p)));
  for (int distance = below / 2; distance > 0; distance /= 2) {
    if (me + distance < shape.p) {
      children_.push_back(me + distance);
    }
  }
}

int Tree::depth(int p) {
  int deepest = 0;
  for (int r = 0; r < p; ++r) {
    deepest = std::max(deepest, std::popcount(static_cast<unsigned>(r)));
  }
  return deepest;
}

void check_root(const Comm& comm, std::string_view operation, int root) {
  if (root < 0 || root >= comm.size()) {
    throw BadUse(std::string(operation) + " on group " + comm.name() + ": there is no rank " +
                 std::to_string(root) + " among " + std::to_string(comm.size()));
  }
}

}  // namespace ringside
