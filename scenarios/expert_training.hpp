// What one rank of a scenario's job does when the model is a mixture of experts.
#pragma once

#include <vector>

#include "parallel/expert/placement.hpp"
#include "scenarios/training_job.hpp"

namespace ringside {

// It trains, and sets each step beside the reference, which routes as reference_of does.
std::vector<StepOutcome> train_rank_with_experts(Rank& rank, const TrainingRequest& request,
                                                 const TrainingPlan& plan,
                                                 const Reference& reference);

// Which rank of an expert-parallel group holds which experts.
Placement placement_of(const Settings& settings);

}  // namespace ringside
