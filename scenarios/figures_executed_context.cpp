// Executed figures of section CP: keys and values of a ring, causal pairs, layer inputs.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <numeric>

#include "scenarios/context_experiments.hpp"
#include "scenarios/figures_executed.hpp"

namespace ringside {

namespace {

Executed of_ranks(const std::vector<std::int64_t>& values, std::string summed) {
  const auto sum = std::accumulate(values.begin(), values.end(), std::int64_t{0});
  const auto [least, most] = std::ranges::minmax(values);
  return {.mean = static_cast<double>(sum) / static_cast<double>(values.size()),
          .least = static_cast<double>(least),
          .most = static_cast<double>(most),
          .summed = std::move(summed)};
}

Executed pairs(ContextLayout layout) {
  const auto seen = executed_pairs({.layout = layout}, 4, 16);
  Executed executed = of_ranks(seen, "pairs counted by 4 ranks in the forward pass of a ring");
  executed.seen = "pairs " + with_colons(seen);
  return executed;
}

}  // namespace

std::map<std::string, Executed> executed_context_figures(const FigureInputs& inputs) {
  const auto tokens = static_cast<std::size_t>(inputs.long_sequence);
  std::vector<std::int64_t> bytes;
  std::vector<std::int64_t> blocks;
  std::vector<std::int64_t> block;
  for (const KeysSent& rank : executed_keys(inputs.anchor, inputs.ranks, tokens, inputs.cluster)) {
    bytes.push_back(rank.bytes);
    blocks.push_back(rank.messages);
    block.push_back(rank.bytes / rank.messages);
  }
  const auto of_ring = [&](std::string_view what) {
    return fmt::format("label attention, operation ring_hop: {}, mean of {} ranks", what,
                       inputs.ranks);
  };
  return {
      {"CP02", of_ranks(block, of_ring("bytes of a message"))},
      {"CP03", of_ranks(blocks, of_ring("messages sent"))},
      {"CP04", of_ranks(bytes, of_ring("bytes sent"))},
      {"CP05", of_ranks({executed_layer_inputs(inputs.anchor, tokens)},
                        "activations in the ledger of one card that keeps the inputs of its "
                        "layers, no traffic")},
      {"CP06", pairs(ContextLayout::contiguous)},
      {"CP07", pairs(ContextLayout::zigzag)},
  };
}

}  // namespace ringside
