// The plans that `ringside parity` sets beside one process: products of all dimensions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "parallel/fault.hpp"
#include "scenarios/settings.hpp"

namespace ringside {

struct ParityPlan {
  Settings settings;  // as asked for: resolve() may refuse them
  Fault fault = Fault::none;
  std::string_view control{};  // the fault's name, when it is to be caught
};

// "tp 2 with SP x pp 2 (zb_h1) x dp 2, ZeRO 1, 4 micro-batches".
std::string plan_name(const Settings& settings);

// Every mesh [tp, cp, pp, dp] of the ranks, then mixtures of experts, then deliberate faults. With
// `full` each mesh has every stage of ZeRO with every schedule, form of cp, and SP on and off;
// otherwise one of each, in turn.
std::vector<ParityPlan> parity_plans(int ranks, bool full);

}  // namespace ringside
