#include "models/gradient_norm.hpp"

#include <cmath>

#include "models/tensor_elements.hpp"

namespace ringside {

double sum_of_squares(const std::vector<Parameter*>& parameters) {
  double squares = 0;
  for (const Parameter* parameter : parameters) {
    with_elements(parameter->grad, [&](auto elements) {
      for (const auto element : elements) {
        squares += static_cast<double>(element) * static_cast<double>(element);
      }
    });
  }
  return squares;
}

double gradient_norm(const std::vector<Parameter*>& parameters) {
  const double root = std::sqrt(sum_of_squares(parameters));
  const bool f32 = !parameters.empty() && parameters.front()->grad.dtype() == DType::f32;
  return f32 ? static_cast<double>(static_cast<float>(root)) : root;
}

}  // namespace ringside
