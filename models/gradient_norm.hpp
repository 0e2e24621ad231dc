// The Euclidean norm of all gradients.
#pragma once

#include <vector>

#include "models/parameter.hpp"

namespace ringside {

// The sum of the squares of the gradients' elements, added in f64, parameter after parameter.
double sum_of_squares(const std::vector<Parameter*>& parameters);

// Its root, rounded once to the type of the gradients; 0 without parameters.
double gradient_norm(const std::vector<Parameter*>& parameters);

}  // namespace ringside
