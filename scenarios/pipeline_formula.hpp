// Formulas of what travels between the stages of a pipeline, by rank: all steps together, from the
// settings and the text alone.
#pragma once

#include <string_view>

#include "scenarios/collective_formula.hpp"

namespace ringside {

// For each micro-batch and each border between stages on different devices, one activation of
// [tokens, hidden] forward and one gradient of it back; with sequence parallelism of the rank's
// rows. (Narayanan et al. 2021, section 3.2.)
Figures stages_formula(const Settings& settings, std::string_view text, int rank);

// All-reduced over the devices: the loss and the norm, 8 bytes each a step.
Figures stage_numbers_formula(const Settings& settings, int rank);

// All-reduced over the devices that hold the same parameters: the gradients of those, once a step.
Figures stage_copies_formula(const Settings& settings, int rank);

}  // namespace ringside
