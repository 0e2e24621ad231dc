// What of the whole model's values a rank has, by its own part of the model.
#pragma once

#include <vector>

#include "models/model.hpp"
#include "models/training.hpp"
#include "parallel/deviation.hpp"

namespace ringside {

// Where each parameter of the model stands among those of the whole one.
std::vector<std::size_t> places_in_whole(const TrainingPlan& plan, Model& model);

// Of the whole tensors; nothing of those that are empty, as gradients are of what does not learn.
TensorValues cut(const std::vector<PieceOf>& parts, const TensorValues& wholes);

TensorValues picked(const TensorValues& all, const std::vector<std::size_t>& places);

}  // namespace ringside
