#include "collectives/nodes.hpp"

#include <algorithm>
#include <map>

namespace ringside {

Nodes::Nodes(const Shape& shape) {
  std::map<int, int> index;  // of a node of the cluster
  for (int r = 0; r < shape.p; ++r) {
    const int node = shape.node_of.empty() ? 0 : shape.node_of[static_cast<std::size_t>(r)];
    const auto [found, fresh] = index.try_emplace(node, count());
    if (fresh) {
      members_.emplace_back();
    }
    auto& members = members_[static_cast<std::size_t>(found->second)];
    node_of_.push_back(found->second);
    local_.push_back(static_cast<int>(members.size()));
    members.push_back(r);
  }
}

int Nodes::member(int node, int index) const {
  const int n = size(node);
  return members(node)[static_cast<std::size_t>(((index % n) + n) % n)];
}

int Nodes::largest() const {
  int most = 0;
  for (const auto& members : members_) {
    most = std::max(most, static_cast<int>(members.size()));
  }
  return most;
}

}  // namespace ringside
