#include "scenarios/collective_formula.hpp"

#include <algorithm>

#include "collectives/all_reduce.hpp"
#include "scenarios/model_settings.hpp"
#include "scenarios/parallel_options.hpp"

namespace ringside {

namespace {

bool differ(const std::vector<int>& nodes) {
  return std::ranges::any_of(nodes, [&](int node) { return node != nodes.front(); });
}

}  // namespace

AxisGroup::AxisGroup(const Settings& s, const std::vector<Axis>& axes, int rank) {
  const std::vector<int> members = mesh_of(s, rank).members(axes);
  const Cluster cluster = cluster_of(s);
  for (const int r : members) {
    node_of.push_back(cluster.node_of(r));
  }
  several_nodes = differ(node_of);
  size = static_cast<int>(node_of.size());
  me = static_cast<int>(std::ranges::find(members, rank) - members.begin());
}

AxisGroup AxisGroup::neighbours(int count) const {
  AxisGroup part = *this;
  const auto first = node_of.begin() + me / count * count;
  part.node_of = {first, first + count};
  part.several_nodes = differ(part.node_of);
  part.size = count;
  part.me = me % count;
  return part;
}

Figures all_reduce_elements(const Settings& s, const AxisGroup& group, std::size_t n,
                            std::size_t bytes) {
  const int p = group.size;
  const auto algorithm = chosen("all_reduce", s.collectives.all_reduce, group.several_nodes, bytes);
  const auto peers = static_cast<std::int64_t>(p - 1);
  const auto count = static_cast<std::int64_t>(n);
  if (algorithm == "ring" && n % static_cast<std::size_t>(p) == 0) {
    return {2 * peers * (count / p), 2 * peers * (count / p)};
  }
  if (algorithm == "naive") {
    return group.me == 0 ? Figures{peers * count, peers * count} : Figures{count, count};
  }
  const auto& row = pick(all_reduce_algorithms(), "all_reduce", algorithm);
  Shape shape{.p = p, .n = n, .node_of = group.node_of};
  const auto sent = [&](int r) {
    shape.rank = r;
    return static_cast<std::int64_t>(row.sent(shape));
  };
  return {sent(group.me),
          algorithm == "ring" ? std::optional(sent((group.me + p - 1) % p)) : std::nullopt};
}

std::int64_t element_of(const Settings& s) {
  return static_cast<std::int64_t>(size_of(element_type(s)));
}

}  // namespace ringside
