#include "scenarios/figures_executed.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <numeric>

#include "collectives/all_reduce.hpp"
#include "models/meta_layer.hpp"
#include "parallel/tensor_seam.hpp"
#include "runtime/launch.hpp"
#include "runtime/tensor.hpp"
#include "scenarios/figures_expert_executed.hpp"

namespace ringside {

namespace {

constexpr std::string_view label = "gradients";

// What one rank saw of the all-reduce; plain, so that it travels as it is.
struct Seen {
  std::int64_t sent = 0;
  std::int64_t received = 0;
  std::int64_t messages = 0;  // sent
  Time took{0};
};

std::vector<Seen> all_reduce_gradients(const FigureInputs& inputs, int ranks,
                                       std::string_view algorithm, const Cluster& cluster) {
  const std::size_t count = inputs.anchor.count();
  return run_ranks(ranks, {.cluster = cluster, .memory = Backing::meta}, [&](Rank& rank) {
    const Tensor gradients(rank.memory(), DType::bf16, {count}, Category::gradients, "gradients");
    all_reduce(rank.world(), gradients.buffer(), ReduceOp::sum, {algorithm, label});
    Seen seen{.took = rank.now()};
    for (const TrafficSum& sum : rank.traffic().sums()) {
      if (std::string_view(sum.label) == label) {
        seen.sent += sum.sent_bytes;
        seen.messages += sum.sent_messages;
        seen.received += sum.received_bytes;
      }
    }
    return seen;
  });
}

std::vector<std::int64_t> values_of(const std::vector<Seen>& ranks, std::int64_t Seen::*value) {
  std::vector<std::int64_t> values;
  for (const Seen& seen : ranks) {
    values.push_back(seen.*value);
  }
  return values;
}

Executed sent(const std::vector<Seen>& ranks) {
  return over_ranks(values_of(ranks, &Seen::sent), 1,
                    fmt::format("label {}: bytes sent, mean of {} ranks", label, ranks.size()));
}

Executed received_by_rank_0(const std::vector<Seen>& ranks) {
  return over_ranks({ranks.front().received}, 1,
                    fmt::format("label {}: bytes received by rank 0 of {}", label, ranks.size()));
}

Executed padded(Executed executed, const FigureInputs& inputs, int ranks,
                std::string_view algorithm, std::int64_t without) {
  executed.padded = in_padded_buckets(inputs, ranks, algorithm, without);
  return executed;
}

// The ring's and the naive all-reduce's, on many ranks.
std::map<std::string, Executed> on_many_ranks(const FigureInputs& inputs) {
  const int ranks = inputs.many_ranks;
  const auto ring = all_reduce_gradients(inputs, ranks, "ring", inputs.cluster);
  const auto naive = all_reduce_gradients(inputs, ranks, "naive", inputs.cluster);
  const auto all = values_of(ring, &Seen::sent);
  const auto sum = std::accumulate(all.begin(), all.end(), std::int64_t{0});
  return {
      {"DP08", padded(sent(ring), inputs, ranks, "ring", sum)},
      {"DP10", padded(received_by_rank_0(naive), inputs, ranks, "naive", naive.front().received)}};
}

// Forward and backward of one micro-batch of the anchor, cut over the ranks.
Executed sent_by_layers(const FigureInputs& inputs) {
  const JobOptions options{.cluster = inputs.cluster, .memory = Backing::meta};
  const auto tokens = static_cast<std::size_t>(inputs.tokens);
  const auto ranks = run_ranks(inputs.ranks, options, [&](Rank& rank) {
    const auto seam = make_tensor_seam(rank.world(), rank.memory(), {});
    make_meta_model({rank.memory(), rank.clock()}, inputs.anchor, DType::bf16,
                    {rank.id(), rank.size()}, seam)
        ->forward_backward(meta_batch(tokens));
    Seen seen;
    for (const TrafficSum& sum : rank.traffic().sums()) {
      seen.sent += std::string_view(sum.label).starts_with("layers.") ? sum.sent_bytes : 0;
    }
    return seen;
  });
  return over_ranks(
      values_of(ranks, &Seen::sent), 1,
      fmt::format("labels layers.*: bytes sent, mean of {} ranks; without embed, head, loss",
                  inputs.ranks));
}

// A machine for each card, as the estimate has it, without latency.
Executed seconds_over_infiniband(const FigureInputs& inputs) {
  Cluster cluster = inputs.cluster;
  cluster.gpus_per_node = 1;
  cluster.ib.latency = Time{0};
  std::vector<std::int64_t> picoseconds;
  for (const Seen& seen : all_reduce_gradients(inputs, inputs.ranks, "ring", cluster)) {
    picoseconds.push_back(seen.took.count());
  }
  return over_ranks(
      picoseconds, 1e12,
      fmt::format("label {}: modelled seconds of the all-reduce, {} nodes of one card, latency 0",
                  label, inputs.ranks));
}

}  // namespace

Executed over_ranks(const std::vector<std::int64_t>& values, double unit, std::string summed) {
  const auto sum = std::accumulate(values.begin(), values.end(), std::int64_t{0});
  const auto [least, most] = std::ranges::minmax(values);
  return {.mean = static_cast<double>(sum) / (static_cast<double>(values.size()) * unit),
          .least = static_cast<double>(least) / unit,
          .most = static_cast<double>(most) / unit,
          .summed = std::move(summed)};
}

std::map<std::string, Executed> executed_figures(const FigureInputs& inputs) {
  const Cluster& cluster = inputs.cluster;
  const int few = inputs.ranks;
  const auto ring = all_reduce_gradients(inputs, few, "ring", cluster);
  std::map<std::string, Executed> executed{
      {"DP07", sent(ring)},
      {"DP21", over_ranks(values_of(ring, &Seen::messages), 1,
                          fmt::format("label {}: messages sent, mean of {} ranks", label, few))},
      {"DP09", received_by_rank_0(all_reduce_gradients(inputs, few, "naive", cluster))},
      {"DP12", seconds_over_infiniband(inputs)},
      {"TP03", sent_by_layers(inputs)},
  };
  executed.merge(on_many_ranks(inputs));
  executed.merge(executed_stages(inputs));
  executed.merge(executed_pipeline_figures(inputs));
  executed.merge(executed_context_figures(inputs));
  executed.merge(executed_expert_figures(inputs));
  executed.merge(executed_pitfall_figures(inputs));
  return executed;
}

}  // namespace ringside
