#include "parallel/finite_watch.hpp"

#include <cmath>

#include "models/tensor_elements.hpp"

namespace ringside {

void FiniteWatch::after_backward(std::size_t layer) {
  for (const Parameter* p : layers_.at(layer)) {
    if (found_ || !p->trainable || !p->grad) {
      continue;
    }
    std::uint64_t at = 0;
    for_each_element(p->grad, [&](auto element) {
      const auto value = static_cast<double>(element);
      if (!found_ && !std::isfinite(value)) {
        found_ = Found{p, at, value};
      }
      ++at;
    });
  }
}

}  // namespace ringside
