#include "models/clipping.hpp"

#include <cmath>
#include <string>

#include "models/tensor_elements.hpp"
#include "runtime/errors.hpp"

namespace ringside {

std::optional<double> clip_factor(double norm, double limit) {
  if (!(limit > 0)) {
    throw BadUse("gradients cannot be clipped to a norm of " + std::to_string(limit) +
                 ": give one above 0");
  }
  if (!std::isfinite(norm)) {
    return std::nullopt;
  }
  return norm > limit ? limit / norm : 1;
}

void scale_gradients(const std::vector<Parameter*>& parameters, double factor) {
  if (factor == 1) {
    return;
  }
  for (const Parameter* p : parameters) {
    if (p->trainable) {
      map_elements(p->grad, [&](auto g) { return g * static_cast<decltype(g)>(factor); });
    }
  }
}

}  // namespace ringside
