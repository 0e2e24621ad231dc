// Calls a function template with the elements of a tensor, f32 or f64.
#pragma once

#include "runtime/tensor.hpp"

namespace ringside {

// fn(std::span<float>) or fn(std::span<double>). Throws BadUse for another type.
template <class Fn>
void with_elements(const Tensor& tensor, Fn fn) {
  if (tensor.dtype() == DType::f32) {
    fn(tensor.as<float>());
  } else {
    fn(tensor.as<double>());
  }
}

}  // namespace ringside
