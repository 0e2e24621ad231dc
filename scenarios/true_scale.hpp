// What one rank does of a training at true scale: the program of a real one, on meta memory.
#pragma once

#include <vector>

#include "models/published_model.hpp"
#include "scenarios/training_job.hpp"

namespace ringside {

// bf16 weights and gradients, f32 masters and moments. Under ZeRO the parameters are made in host
// memory, and only what the stage leaves to this rank comes into its device memory. Each sample has
// model.sequence tokens.
std::vector<StepOutcome> train_rank_at_true_scale(Rank& rank, const Settings& settings,
                                                  const PublishedModel& model, Fault fault);

}  // namespace ringside
