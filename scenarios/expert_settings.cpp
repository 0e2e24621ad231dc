#include "scenarios/expert_settings.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>

#include "runtime/errors.hpp"
#include "scenarios/model_settings.hpp"
#include "scenarios/parallel_options.hpp"

namespace ringside {

namespace {

// Which members of the rank's expert-parallel group share a node: of each the first that does.
std::vector<std::ptrdiff_t> shape_over_nodes(const Settings& s, int rank) {
  const Cluster cluster = cluster_of(s);
  const auto group = expert_group(mesh_of(s, rank), s.parallel.ep);
  std::vector<std::ptrdiff_t> shape;
  for (const int member : group) {
    shape.push_back(
        std::ranges::find_if(
            group, [&](int other) { return cluster.node_of(other) == cluster.node_of(member); }) -
        group.begin());
  }
  return shape;
}

// Tensor-parallel ranks have the same experts: sums by node must be the same sums.
void check_copies_by_node(const Settings& s) {
  for (int r = 0; r < s.ranks && s.parallel.tp > 1 && !s.parallel.sp; ++r) {
    const int first = mesh_of(s, r).rank_with(Axis::tp, 0);
    if (shape_over_nodes(s, r) != shape_over_nodes(s, first)) {
      throw BadUse(fmt::format(
          "parallel.dispatch = by_node adds what experts give node by node, and ranks {} and {}, "
          "which hold the same experts (parallel.tp = {}), have groups that lie differently over "
          "nodes of cluster.gpus_per_node = {}: choose one that parallel.tp divides, or "
          "parallel.dispatch = straight",
          first, r, s.parallel.tp, s.cluster.gpus_per_node));
    }
  }
}

// As many ranks of every expert-parallel group on each of its nodes.
void check_experts_by_node(const Settings& settings) {
  check_copies_by_node(settings);
  const Cluster cluster = cluster_of(settings);
  for (int r = 0; r < settings.ranks; ++r) {
    std::map<int, int> on_node;
    for (const int member : expert_group(mesh_of(settings, r), settings.parallel.ep)) {
      ++on_node[cluster.node_of(member)];
    }
    for (const auto& [node, count] : on_node) {
      if (count != on_node.begin()->second) {
        throw BadUse(fmt::format(
            "parallel.dispatch = by_node needs as many ranks of an expert-parallel group on each "
            "node, but of that of rank {}, of parallel.ep = {}, node {} has {} and node {} has {} "
            "(cluster.gpus_per_node = {}): choose another ep, or parallel.dispatch = straight",
            r, settings.parallel.ep, on_node.begin()->first, on_node.begin()->second, node, count,
            settings.cluster.gpus_per_node));
      }
    }
  }
}

}  // namespace

Placement placement_of(const Settings& s) {
  const auto experts = static_cast<std::size_t>(s.model.experts);
  return s.parallel.placement == "random"
             ? Placement::random(experts, s.parallel.ep, static_cast<std::uint64_t>(s.train.seed))
             : Placement(experts, s.parallel.ep);
}

ExpertPlan expert_plan(const Settings& s, Fault fault) {
  return {.placement = placement_of(s),
          .by_node = s.parallel.dispatch == "by_node",
          .two_at_once = s.parallel.ep_overlap,
          .all_to_all = s.collectives.all_to_all,
          .all_reduce = s.collectives.all_reduce,
          .fault = fault};
}

void check_expert_settings(const Settings& settings) {
  const auto& p = settings.parallel;
  if (!has_experts(settings)) {
    if (p.ep > 1 || p.ep_overlap) {
      throw BadUse(
          fmt::format("parallel.ep = {} spreads the experts of a gpt, but model.experts = "
                      "0: set model.experts, or parallel.ep = 1 without "
                      "parallel.ep_overlap",
                      p.ep));
    }
    return;
  }
  if (settings.model.kind != "gpt" || at_true_scale(settings)) {
    throw BadUse(fmt::format("model.experts = {} are of model.kind = gpt without model.config",
                             settings.model.experts));
  }
  expert_group(mesh_of(settings, 0), p.ep);
  Placement(static_cast<std::size_t>(settings.model.experts), p.ep);
  if (p.dispatch == "by_node") {
    check_experts_by_node(settings);
  }
  if (p.ep_overlap && p.microbatches < 2) {
    throw BadUse(
        fmt::format("parallel.ep_overlap takes micro-batches in pairs, but "
                    "parallel.microbatches = {}: set it to 2 or more",
                    p.microbatches));
  }
  if (p.ep_overlap && p.pp > 1) {
    throw BadUse(
        fmt::format("parallel.ep_overlap takes micro-batches in pairs, which the schedule of "
                    "parallel.pp = {} does not: leave one of them out",
                    p.pp));
  }
}

}  // namespace ringside
