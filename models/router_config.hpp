// How a mixture of experts sends tokens to experts.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ringside {

// softmax over all experts (Shazeer et al. 2017), or a sigmoid of each (DeepSeek-V3, section
// 2.1.2).
enum class RouterScore : std::uint8_t { softmax, sigmoid };

struct RouterConfig {
  RouterScore score = RouterScore::softmax;
  // Node-limited selection (DeepSeek-V3, section 2.1.2): the experts lie in so many groups of
  // neighbours, and a token goes to experts of the `top_groups` best. 1: no groups; 0: no limit.
  std::size_t groups = 1;
  std::size_t top_groups = 0;
  double capacity = 0;   // factor: an expert takes at most ceil(tokens * top_k * factor / experts)
                         // choices of a routing group; 0: all
  double balance = 0;    // coefficient of the auxiliary loss (Fedus et al. 2022, section 2.2)
  double bias_rate = 0;  // by which each expert's bias moves after a step (DeepSeek-V3); 0: no bias
  std::size_t hot = 0;   // so many experts, from the first, that every token prefers: a straggler
  // Deliberate faults.
  bool masked_groups_eligible = false;  // the groups that are not chosen score 0 instead of nothing
  bool dropped_kept = false;            // what passes the capacity is computed all the same
};

// Throws BadUse, with the numbers, for top_k outside 1 … experts, groups that do not divide the
// experts, groups that leave fewer than top_k, and negative factors.
void require_usable(const RouterConfig& config, std::size_t experts, std::size_t top_k);

}  // namespace ringside
