// Clipping by the global norm (Pascanu et al. 2013).
#pragma once

#include <optional>
#include <vector>

#include "models/parameter.hpp"

namespace ringside {

// What gradients of this norm are multiplied by: limit / norm where the norm is above the limit, 1
// elsewhere. None when the norm is not finite: no factor helps then, and the step is to be skipped,
// on every rank alike, for all have the same norm. Throws BadUse unless limit > 0.
std::optional<double> clip_factor(double norm, double limit);

// Multiplies every trainable gradient, each element rounded once. A factor of 1 touches nothing.
void scale_gradients(const std::vector<Parameter*>& parameters, double factor);

}  // namespace ringside
