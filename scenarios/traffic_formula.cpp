#include "scenarios/traffic_formula.hpp"

#include "collectives/broadcast.hpp"
#include "parallel/shard_map.hpp"
#include "scenarios/model_settings.hpp"
#include "scenarios/parallel_options.hpp"
#include "scenarios/training_job.hpp"

namespace ringside {

namespace {

std::string all_reduce_formula(const std::string& algorithm) {
  return algorithm == "ring"    ? "2(p-1)/p n"
         : algorithm == "naive" ? "rank 0: (p-1) n, others n"
                                : "claim of " + algorithm;
}

// A reduce-scatter or an all-gather of a bucket: every chunk but one is sent, and one received.
std::int64_t half_of_ring(const Settings& s, const Bucket& bucket) {
  return static_cast<std::int64_t>(gradient_ranks(s) - 1) *
         static_cast<std::int64_t>(shard_size(bucket, gradient_ranks(s)));
}

// Layers that compute with the bucket: two with a tied table.
std::int64_t users_of(const Settings& s, const Bucket& bucket) {
  return !at_true_scale(s) && s.model.kind == "gpt" && s.model.tied && bucket.layer == 0 ? 2 : 1;
}

}  // namespace

Figures gradient_formula(const Settings& s, int rank) {
  Figures figures;
  for (const auto& b : buckets_of(s, rank)) {
    const std::int64_t half = half_of_ring(s, b);
    figures += s.parallel.zero > 0
                   ? Figures{half, half}
                   : all_reduce_elements(s, {s, gradient_axes(), rank}, b.padded,
                                         b.padded * static_cast<std::size_t>(element_of(s)));
  }
  return figures * (std::int64_t{reductions_of(s)} * s.train.steps * element_of(s));
}

Figures parameter_formula(const Settings& s, int rank) {
  std::int64_t elements = 0;
  for (const auto& b : buckets_of(s, rank)) {
    const std::int64_t gathers =
        s.parallel.zero < 3 ? 1 : 2 * users_of(s, b) * s.parallel.microbatches;
    elements += gathers * half_of_ring(s, b);
  }
  const std::int64_t bytes = elements * s.train.steps * element_of(s);
  return {bytes, bytes};
}

Figures weight_formula(const Settings& s, int rank) {
  const auto element = size_of(element_type(s));
  std::int64_t bytes = 0;
  for (const Bucket& bucket : buckets_of(s, rank)) {
    bytes += static_cast<std::int64_t>(bucket.count * element);
  }
  const AxisGroup group(s, gradient_axes(), rank);
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

std::string gradient_operation(const Settings& s) {
  return s.parallel.zero > 0 ? "reduce_scatter" : "all_reduce";
}

std::string gradient_formula_text(const Settings& s) {
  return s.parallel.zero > 0 ? "(p-1)/p n" : all_reduce_formula(s.collectives.all_reduce);
}

std::string parameter_formula_text(const Settings& s) {
  return s.parallel.zero < 3 ? "(p-1)/p n" : "2(p-1)/p n a layer that uses it";
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
