// Single figures of a training job, as several checks compare them.
#pragma once

#include "scenarios/training_job.hpp"

namespace ringside {

// Bytes, of the rank that had most.
std::int64_t peak_activations(const TrainingOutcome& outcome);

// Modelled, all steps, of the slowest rank.
Time training_time(const TrainingOutcome& outcome);

// Modelled, from a step's start to the end of its backward, the longest over the ranks; of the last
// step.
Time forward_and_backward(const TrainingOutcome& outcome);

// Backward of the last micro-batch of the last step, the longest over the ranks.
Time backward_time(const TrainingOutcome& outcome);

// From the end of the last rank's backward to the last gradient, in the last step. What a rank
// waits for a slower one is not communication.
Time exposed_time(const TrainingOutcome& outcome);

}  // namespace ringside
