#include "models/gradient_norm.hpp"

#include <algorithm>
#include <cmath>

#include "models/tensor_elements.hpp"

namespace ringside {

double sum_of_squares(const std::vector<Parameter*>& parameters) {
  double squares = 0;
  for (const Parameter* parameter : parameters) {
    if (parameter->trainable) {
      for_each_element(parameter->grad, [&](auto element) {
        squares += static_cast<double>(element) * static_cast<double>(element);
      });
    }
  }
  return squares;
}

double norm_of(double squares, const std::vector<Parameter*>& parameters) {
  const double root = std::sqrt(squares);
  const auto first =
      std::ranges::find_if(parameters, [](const Parameter* p) { return p->trainable; });
  const bool f64 = first == parameters.end() || (*first)->grad.dtype() == DType::f64;
  return f64 ? root : static_cast<double>(static_cast<float>(root));
}

double gradient_norm(const std::vector<Parameter*>& parameters) {
  return norm_of(sum_of_squares(parameters), parameters);
}

}  // namespace ringside
