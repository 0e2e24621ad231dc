#include "scenarios/traffic_formula.hpp"

#include "collectives/broadcast.hpp"
#include "scenarios/model_settings.hpp"
#include "scenarios/parallel_options.hpp"
#include "scenarios/pipeline_settings.hpp"
#include "scenarios/training_job.hpp"

namespace ringside {

namespace {

std::string all_reduce_formula(const std::string& algorithm) {
  return algorithm == "ring"    ? "2(p-1)/p n"
         : algorithm == "naive" ? "rank 0: (p-1) n, others n"
                                : "claim of " + algorithm;
}

std::string all_gather_formula(const std::string& algorithm) {
  return algorithm == "ring" || algorithm == "direct" ? "(p-1)/p n" : "claim of " + algorithm;
}

// Layers that compute with the bucket of a layer: two with a tied table.
std::int64_t users_of(const Settings& s, const Bucket& bucket) {
  const bool tied =
      at_true_scale(s) ? counted_model_of(s).config.tied : s.model.kind == "gpt" && s.model.tied;
  return tied && bucket.last_layer() == 0 ? 2 : 1;
}

// The stage of a pipeline's device that a layer of its model belongs to.
int stage_of(const PipelinePlan& plan, int device, std::size_t layer) {
  const StagePlacement placement(plan.schedule);
  for (const int stage : placement.stages_on(device)) {
    const std::size_t layers = plan.split[static_cast<std::size_t>(stage)];
    if (layer < layers) {
      return stage;
    }
    layer -= layers;
  }
  return -1;
}

// How often a step reduces the gradients of a bucket, and gathers its parameters (ZeRO-3).
struct TimesAStep {
  std::int64_t reductions = 1;
  std::int64_t gathers = 1;
};

TimesAStep times_a_step(const Settings& s, int rank, const Bucket& bucket) {
  if (s.parallel.pp == 1) {
    return {.reductions = reductions_of(s), .gathers = 2 * users_of(s, bucket) * passes_of(s)};
  }
  const PipelinePlan plan = pipeline_plan(s);
  const int device = mesh_of(s, rank).at(Axis::pp);
  const int stage = stage_of(plan, device, bucket.last_layer());
  std::vector<int> users{stage};
  const int last = plan.schedule.stages - 1;
  if (s.model.tied && stage == 0 && bucket.last_layer() == 0 &&
      std::ranges::count(StagePlacement(plan.schedule).stages_on(device), last) > 0) {
    users.push_back(last);
  }
  const auto order = weight_gradient_order(plan.schedule, device, stage);
  return {.reductions = s.parallel.zero > 1 ? static_cast<std::int64_t>(order.size()) : 1,
          .gathers = gathers_of_stages(plan.schedule, device, users)};
}

}  // namespace

Figures gradient_formula(const Settings& s, int rank, Held held) {
  const AxisGroup group = holders_of(s, held, rank);
  Figures figures;
  for (const auto& b : buckets_of(s, rank, held)) {
    const std::size_t bytes = b.padded * static_cast<std::size_t>(element_of(s));
    const Figures once = s.parallel.zero > 0 ? reduce_scatter_elements(s, group, b.padded, bytes)
                                             : all_reduce_elements(s, group, b.padded, bytes);
    figures += once * times_a_step(s, rank, b).reductions;
  }
  return figures * (std::int64_t{s.train.steps} * element_of(s));
}

Figures parameter_formula(const Settings& s, int rank, Held held) {
  Figures figures;
  const AxisGroup group = holders_of(s, held, rank);
  for (const auto& b : buckets_of(s, rank, held)) {
    const std::int64_t gathers = s.parallel.zero < 3 ? 1 : times_a_step(s, rank, b).gathers;
    const std::size_t bytes = b.padded * static_cast<std::size_t>(element_of(s));
    figures += all_gather_elements(s, group, b.padded, bytes) * gathers;
  }
  return figures * (std::int64_t{s.train.steps} * element_of(s));
}

Figures weight_formula(const Settings& s, int rank, Held held) {
  const auto element = size_of(element_type(s));
  std::int64_t bytes = 0;
  for (const Bucket& bucket : buckets_of(s, rank, held)) {
    bytes += static_cast<std::int64_t>(bucket.count * element);
  }
  if (held == Held::dense) {
    bytes += static_cast<std::int64_t>(frozen_elements(s, rank) * element);
  }
  const AxisGroup group = holders_of(s, held, rank);
  const auto algorithm = chosen("broadcast", s.collectives.broadcast, group.several_nodes, 0);
  const auto& row = pick(broadcast_algorithms(), "broadcast", algorithm);
  const auto copies =
      static_cast<std::int64_t>(row.sent({.p = group.size, .n = 1, .rank = group.me}));
  return {bytes * copies, group.me == 0 ? 0 : bytes};
}

Figures number_formula(const Settings& s, int rank) {
  const std::int64_t numbers = s.parallel.zero > 0 ? 3 : 2;
  return all_reduce_elements(s, {s, gradient_axes(), rank}, 1, 8) * (8 * numbers * s.train.steps);
}

Figures statistics_formula(const Settings& s, int rank) {
  constexpr std::size_t element = sizeof(double);
  const auto width = static_cast<std::size_t>(s.model.hidden);
  const AxisGroup group(s, gradient_axes(), rank);
  Figures elements;
  for (const std::size_t n : {2 * width + 1, 2 * width}) {  // forward, backward
    elements += all_reduce_elements(s, group, n, n * element);
  }
  return elements * (std::int64_t{8} * s.model.layers * s.parallel.microbatches * s.train.steps);
}

std::string gradient_operation(const Settings& s) {
  return s.parallel.zero > 0 ? "reduce_scatter" : "all_reduce";
}

std::string gradient_formula_text(const Settings& s) {
  return s.parallel.zero > 0 ? "(p-1)/p n" : all_reduce_formula(s.collectives.all_reduce);
}

std::string parameter_formula_text(const Settings& s) {
  const std::string once = all_gather_formula(s.collectives.all_gather);
  return s.parallel.zero < 3   ? once
         : once.front() == '(' ? "2(p-1)/p n a layer that uses it"
                               : once + ", 2 a layer that uses it";
}

std::string weight_formula_text(const Settings& s) {
  return s.collectives.broadcast == "linear" ? "root: (p-1) n, others 0"
                                             : "claim of " + s.collectives.broadcast;
}

std::string number_formula_text(const Settings& s) {
  return s.parallel.zero > 0 ? "24 bytes a step, all-reduced" : "16 bytes a step, all-reduced";
}

std::string number_labels(const Settings& s) {
  return s.parallel.zero > 0 ? "loss, tokens, norm" : "loss, tokens";
}

}  // namespace ringside
