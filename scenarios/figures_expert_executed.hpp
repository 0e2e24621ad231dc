// Figures of section EP that are measured on running jobs: DeepSeek-V3's experts on 64 ranks.
#pragma once

#include <map>
#include <string>

#include "scenarios/figures_executed.hpp"

namespace ringside {

std::map<std::string, Executed> executed_expert_figures(const FigureInputs& inputs);

}  // namespace ringside
