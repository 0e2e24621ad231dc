#include "models/router_state.hpp"

#include <algorithm>
#include <numeric>

#include "models/model.hpp"
#include "models/tensor_elements.hpp"

namespace ringside {

double balance_of(const RouterState& state) {
  return state.tokens == 0 ? 0 : state.balance / static_cast<double>(state.tokens);
}

double imbalance_of(const ExpertCounts& counts) {
  const std::int64_t sum = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  return sum == 0 ? 0
                  : static_cast<double>(*std::ranges::max_element(counts)) *
                        static_cast<double>(counts.size()) / static_cast<double>(sum);
}

void adjust(RouterState& state) {
  if (state.bias != nullptr && !state.bias->value.meta()) {
    const auto experts = static_cast<std::int64_t>(state.counts.size());
    const std::int64_t sum =
        std::accumulate(state.counts.begin(), state.counts.end(), std::int64_t{0});
    std::size_t e = 0;
    map_elements(state.bias->value, [&](auto bias) {
      const std::int64_t above = state.counts[e++] * experts - sum;
      const auto rate = static_cast<decltype(bias)>(state.bias_rate);
      return above > 0 ? bias - rate : above < 0 ? bias + rate : bias;
    });
  }
  std::ranges::fill(state.counts, 0);
  state.tokens = 0;
  state.dropped = 0;
  state.balance = 0;
}

std::vector<RouterState*> routers_of(Model& model) {
  std::vector<RouterState*> all;
  for (std::size_t i = 0; i < model.layer_count(); ++i) {
    const auto own = model.layer(i).routers();
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

}  // namespace ringside
