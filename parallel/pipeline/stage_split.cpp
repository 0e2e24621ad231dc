#include "parallel/pipeline/stage_split.hpp"

#include <algorithm>
#include <numeric>

#include "collectives/chunk.hpp"
#include "runtime/errors.hpp"

namespace ringside {

namespace {

// As much as fits under `limit` for each stage in turn, but a layer with a cost for each stage that
// is still to come; empty: it takes more stages.
StageSplit fill(const std::vector<std::int64_t>& costs, int stages, std::int64_t limit) {
  StageSplit split;
  std::size_t at = 0;
  auto left = std::ranges::count_if(costs, [](std::int64_t c) { return c > 0; });
  for (int s = 0; s < stages; ++s) {
    const std::ptrdiff_t to_come = stages - 1 - s;
    const std::size_t first = at;
    std::int64_t cost = 0;
    while (at < costs.size() && cost + costs[at] <= limit &&
           (to_come == 0 || costs[at] == 0 || left > to_come)) {
      cost += costs[at];
      left -= costs[at] > 0 ? 1 : 0;
      ++at;
    }
    split.push_back(at - first);
  }
  return at == costs.size() ? split : StageSplit{};
}

}  // namespace

void require_blocks(std::size_t blocks, int stages) {
  if (blocks < static_cast<std::size_t>(stages)) {
    throw BadUse(
        std::to_string(blocks) + " blocks cannot be dealt out to " + std::to_string(stages) +
        " stages, for a stage without a block has nothing to "
        "compute: at most " +
        std::to_string(blocks) + " stages, or at least " + std::to_string(stages) + " blocks");
  }
}

StageSplit split_by_number(std::size_t blocks, int stages, std::size_t before, std::size_t after) {
  require_blocks(blocks, stages);
  StageSplit split;
  for (int s = 0; s < stages; ++s) {
    split.push_back(chunk_of(blocks, stages, s).count);
  }
  split.front() += before;
  split.back() += after;
  return split;
}

StageSplit split_by_cost(const std::vector<std::int64_t>& costs, int stages) {
  const auto with_cost = std::ranges::count_if(costs, [](std::int64_t c) { return c > 0; });
  if (with_cost < stages) {
    throw BadUse(std::to_string(with_cost) + " layers that cost anything cannot be dealt out to " +
                 std::to_string(stages) + " stages: at most " + std::to_string(with_cost));
  }
  std::int64_t low = *std::ranges::max_element(costs);
  std::int64_t high = std::accumulate(costs.begin(), costs.end(), std::int64_t{0});
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (fill(costs, stages, middle).empty()) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return fill(costs, stages, low);
}

std::vector<std::size_t> layers_of(const StageSplit& split, const std::vector<int>& stages) {
  std::vector<std::size_t> layers;
  for (const int s : stages) {
    const auto first = std::accumulate(split.begin(), split.begin() + s, std::size_t{0});
    for (std::size_t i = 0; i < split[static_cast<std::size_t>(s)]; ++i) {
      layers.push_back(first + i);
    }
  }
  return layers;
}

std::string split_text(const StageSplit& split, std::string_view separator) {
  constexpr std::size_t many = 3;
  std::string text;
  for (std::size_t i = 0; i < split.size();) {
    std::size_t run = 1;
    while (i + run < split.size() && split[i + run] == split[i]) {
      ++run;
    }
    const bool shorter = run >= many;
    text += (text.empty() ? "" : std::string(separator)) +
            (shorter ? std::to_string(run) + " x " : "") + std::to_string(split[i]);
    i += shorter ? run : 1;
  }
  return text;
}

}  // namespace ringside
