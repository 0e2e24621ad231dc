// What a router remembers from step to step: its bias, and what it counted since it was last
// adjusted.
#pragma once

#include "models/expert_choice.hpp"
#include "models/layer.hpp"

namespace ringside {

struct RouterState {
  std::string name;  // "layers.0.mlp.router"
  std::size_t top_k = 1;
  double bias_rate = 0;
  ExpertCounts counts{};      // choices by expert, before any are dropped
  std::int64_t tokens = 0;    // routed here
  std::int64_t dropped = 0;   // choices
  double balance = 0;         // see balance_of; a sum over tokens
  Parameter* bias = nullptr;  // [experts], added to the scores for choosing only; or none
};

// The auxiliary loss without its coefficient, the mean over tokens of E * sum_e f_e p_e: f_e is the
// expert's part of the routing group's choices, p_e of the token's scores (Fedus et al. 2022,
// equation 4). 1 when balanced; E when all tokens go to one expert and score it alone. 0 without a
// token.
double balance_of(const RouterState& state);

// The most that an expert was chosen, over the mean; 1 when balanced. 0 without a token.
double imbalance_of(const ExpertCounts& counts);

// After a step, when the counts are those of the whole batch: experts chosen more often than the
// mean become less attractive by bias_rate, the others more (DeepSeek-V3, section 2.1.2). Then all
// counts are 0.
void adjust(RouterState& state);

// The routers of a model's layers, in forward order.
class Model;
std::vector<RouterState*> routers_of(Model& model);

}  // namespace ringside
