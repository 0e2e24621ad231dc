// The Euclidean norm of all gradients.
#pragma once

#include <vector>

#include "models/parameter.hpp"

namespace ringside {

// The sum of the squares of the elements of the gradients of those that are trainable, added in
// f64, parameter after parameter.
double sum_of_squares(const std::vector<Parameter*>& parameters);

// Its root, rounded once to the type of the gradients (f32 for bf16); 0 without parameters.
double gradient_norm(const std::vector<Parameter*>& parameters);

}  // namespace ringside
