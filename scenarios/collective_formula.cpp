#include "scenarios/collective_formula.hpp"

#include <algorithm>

#include "collectives/all_gather.hpp"
#include "collectives/all_reduce.hpp"
#include "collectives/reduce_scatter.hpp"
#include "scenarios/model_settings.hpp"
#include "scenarios/parallel_options.hpp"

namespace ringside {

namespace {

bool differ(const std::vector<int>& nodes) {
  return std::ranges::any_of(nodes, [&](int node) { return node != nodes.front(); });
}

// What the algorithm says that this rank sends.
template <class Run>
std::int64_t claimed(std::span<const Algorithm<Run>> rows, std::string_view operation,
                     std::string_view algorithm, const AxisGroup& group, std::size_t n) {
  return static_cast<std::int64_t>(
      pick(rows, operation, algorithm)
          .sent({.p = group.size, .n = n, .rank = group.me, .node_of = group.node_of}));
}

// All chunks but one.
std::int64_t others(const AxisGroup& group, std::size_t n) {
  return static_cast<std::int64_t>(n) / group.size * (group.size - 1);
}

}  // namespace

AxisGroup::AxisGroup(const Settings& s, const std::vector<Axis>& axes, int rank)
    : AxisGroup(s, mesh_of(s, rank).members(axes), rank) {}

AxisGroup::AxisGroup(const Settings& s, const std::vector<int>& members, int rank) {
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

std::vector<Held> parts_held(const Settings& settings) {
  return has_experts(settings) ? std::vector{Held::dense, Held::experts} : std::vector{Held::dense};
}

AxisGroup holders_of(const Settings& s, Held held, int rank) {
  return held == Held::dense
             ? AxisGroup(s, gradient_axes(), rank)
             : AxisGroup(s, expert_data_group(mesh_of(s, rank), s.parallel.ep), rank);
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

Figures reduce_scatter_elements(const Settings& s, const AxisGroup& group, std::size_t n,
                                std::size_t bytes) {
  const auto algorithm =
      chosen("reduce_scatter", s.collectives.reduce_scatter, group.several_nodes, bytes);
  const auto sent = claimed(reduce_scatter_algorithms(), "reduce_scatter", algorithm, group, n);
  const bool published = algorithm == "ring" || algorithm == "direct";
  return {sent, published ? std::optional(others(group, n)) : std::nullopt};
}

Figures all_gather_elements(const Settings& s, const AxisGroup& group, std::size_t n,
                            std::size_t bytes) {
  const auto algorithm = chosen("all_gather", s.collectives.all_gather, group.several_nodes, bytes);
  return {claimed(all_gather_algorithms(), "all_gather", algorithm, group, n), others(group, n)};
}

std::int64_t element_of(const Settings& s) {
  return static_cast<std::int64_t>(size_of(element_type(s)));
}

}  // namespace ringside
