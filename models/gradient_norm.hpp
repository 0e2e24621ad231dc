// The Euclidean norm of all gradients.
#pragma once

#include <vector>

#include "models/parameter.hpp"

namespace ringside {

// The sum of the squares of the elements of the gradients of those that are trainable, added in
// f64, parameter after parameter.
double sum_of_squares(const std::vector<Parameter*>& parameters);

// Its root, rounded once to the type of the gradients (f32 for bf16).
double norm_of(double squares, const std::vector<Parameter*>& parameters);

// Of these parameters; 0 without any.
double gradient_norm(const std::vector<Parameter*>& parameters);

}  // namespace ringside
