// What one rank of a scenario's job does: it trains, and sets each step beside the reference.
#pragma once

#include <vector>

#include "scenarios/training_job.hpp"

namespace ringside {

std::vector<StepOutcome> train_rank(Rank& rank, const TrainingRequest& request,
                                    const TrainingPlan& plan, const Reference& reference);

}  // namespace ringside
