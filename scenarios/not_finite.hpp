// Infinite, or no number: where a training first is so, and whether one process is so too.
#pragma once

#include <optional>

#include "scenarios/check.hpp"
#include "scenarios/training_job.hpp"

namespace ringside {

// The earliest in the order of training: a weight before the first step, then of each step a rank's
// own gradient, the loss, the gradients, their norm, the parameters. Gradients that a step and its
// reference have both thrown away (loss scaling) are none.
std::optional<Worst> first_not_finite(const TrainingOutcome& outcome);

// A row "prefix.finite" that fails; nothing where all is finite.
Checks finite_gate(const std::string& prefix, const TrainingOutcome& outcome);

// Of comparisons of bits, in which a NaN may be equal to a NaN: "not finite on rank 2 at step 1",
// or `seen` as it is.
std::string seen_finite(const std::string& seen, const TrainingOutcome& outcome);

}  // namespace ringside
