// Formulas of the traffic of a scenario: bytes by rank, from the settings alone. They know nothing
// of the run.
#pragma once

#include <string>

#include "scenarios/collective_formula.hpp"
#include "scenarios/settings.hpp"

namespace ringside {

// All steps together. Gradients are all-reduced, or under ZeRO reduce-scattered; there parameters
// are all-gathered, once after the update, or for every forward and backward of a layer that
// computes with them (stage 3).
Figures gradient_formula(const Settings& settings, int rank, Held held = Held::dense);
Figures parameter_formula(const Settings& settings, int rank, Held held = Held::dense);
// Of the initial weights.
Figures weight_formula(const Settings& settings, int rank, Held held = Held::dense);
// Of single numbers: loss, tokens, and under ZeRO the norm.
Figures number_formula(const Settings& settings, int rank);

// Of statistics that dp.sync_batch_norm shares.
Figures statistics_formula(const Settings& settings, int rank);

// "all_reduce", "reduce_scatter".
std::string gradient_operation(const Settings& settings);
// What reports call them: "2(p-1)/p n".
std::string gradient_formula_text(const Settings& settings);
std::string parameter_formula_text(const Settings& settings);
std::string weight_formula_text(const Settings& settings);
std::string number_formula_text(const Settings& settings);
std::string number_labels(const Settings& settings);

}  // namespace ringside
