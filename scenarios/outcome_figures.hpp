// Single figures of a training job, as several checks compare them.
#pragma once

#include "scenarios/training_job.hpp"

namespace ringside {

// Bytes, of the rank that had most.
std::int64_t peak_activations(const TrainingOutcome& outcome);

// Modelled, from a step's start to the end of its backward, the longest over the ranks; of the last
// step.
Time forward_and_backward(const TrainingOutcome& outcome);

}  // namespace ringside
