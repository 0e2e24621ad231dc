// Figures that are measured on running jobs: meta tensors at true scale.
#pragma once

#include <map>
#include <string>

#include "scenarios/figure_inputs.hpp"

namespace ringside {

// Of what each rank counted; ranks differ where a buffer does not divide evenly.
struct Executed {
  double mean = 0;
  double least = 0;
  double most = 0;
  std::string summed{};  // which traffic, by label
  std::string seen{};    // where the figure is no number: to be its property
};

// By the figure's id.
std::map<std::string, Executed> executed_figures(const FigureInputs& inputs);

// Those of section CP.
std::map<std::string, Executed> executed_context_figures(const FigureInputs& inputs);

}  // namespace ringside
