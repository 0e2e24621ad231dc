#include "scenarios/run_headline.hpp"

#include <spdlog/fmt/fmt.h>

#include <numeric>

#include "scenarios/model_settings.hpp"
#include "scenarios/parallel_options.hpp"
#include "scenarios/plural.hpp"
#include "scenarios/training_job.hpp"

namespace ringside {

namespace {

std::string reduction_text(const Settings& s) {
  const auto& p = s.parallel;
  if (has_experts(s)) {
    return fmt::format("ep {} in dp {}, {}", p.ep, p.dp,
                       p.dispatch == "by_node" ? "one copy a node" : "a copy an expert");
  }
  std::string mesh = p.tp == 1 ? "" : fmt::format("tp {} x ", p.tp);
  mesh += p.cp == 1 ? ""
                    : fmt::format("cp {} ({}, {}) x ", p.cp, p.cp_form,
                                  p.cp_layout == "zigzag" ? "zig-zag" : p.cp_layout);
  mesh += p.pp == 1 ? "" : fmt::format("pp {} ({}) x ", p.pp, p.schedule);
  mesh +=
      mesh.empty() ? "" : fmt::format("dp {}{}, ", p.dp, p.sp ? " with sequence parallelism" : "");
  return mesh + (p.zero == 0 ? s.collectives.all_reduce + " all-reduce"
                             : fmt::format("ZeRO-{} by {} reduce-scatter and {} all-gather", p.zero,
                                           s.collectives.reduce_scatter, s.collectives.all_gather));
}

}  // namespace

ModelShape shape_of(const Settings& s) {
  ModelShape shape;
  for (const auto& layer : tensor_counts_of(s)) {
    shape.parameters = std::accumulate(layer.begin(), layer.end(), shape.parameters);
  }
  shape.buckets = buckets_of(s).size();
  return shape;
}

std::string headline(const Settings& s) {
  const ModelShape shape = shape_of(s);
  const Cluster cluster = cluster_of(s);
  const int nodes = cluster.nodes(s.ranks);
  return fmt::format("{}: {} on {}, {} of {} parameters in {}, {}, {}, {} of {}, {}", s.name,
                     plural(s.ranks, "rank"), plural(nodes, "node"), kind_name(s), shape.parameters,
                     name_of(element_type(s)),
                     plural(static_cast<std::int64_t>(shape.buckets), "bucket"), reduction_text(s),
                     plural(s.train.steps, "step"), plural(s.train.batch, "sample"),
                     s.train.optimizer);
}

}  // namespace ringside
