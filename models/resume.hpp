// Whether a stored training can go on in another, and what is stored of one.
#pragma once

#include "models/checkpoint.hpp"
#include "models/training.hpp"

namespace ringside {

// What a step depends on besides weights and optimizer state: the model's measures, the optimizer's
// kind, and which samples belong to which step, which is a function of (seed, step, sample) over a
// text. Ranks, ZeRO's stage, buckets and micro-batches are not among it: they can be others.
std::map<std::string, std::string> identity_of(const TrainingPlan& plan);

// Throws BadUse with the key and both values for the first thing that is not the same.
void require_same_training(const Checkpoint& checkpoint, const TrainingPlan& plan);

}  // namespace ringside
