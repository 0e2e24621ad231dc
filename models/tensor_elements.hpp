// Calls a function template with the elements of a tensor, whatever their floating-point type.
#pragma once

#include <algorithm>
#include <type_traits>

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

// fn(float) or fn(double) of each element in order; bf16 as float; of a meta tensor there are none.
// Throws BadUse for another type.
template <class Fn>
void for_each_element(const Tensor& tensor, Fn fn) {
  if (tensor.meta()) {
    return;
  }
  if (tensor.dtype() == DType::bf16) {
    for (const Bf16 element : tensor.as<Bf16>()) {
      fn(static_cast<float>(element));
    }
  } else {
    with_elements(tensor, [&](auto elements) { std::ranges::for_each(elements, fn); });
  }
}

// Each element becomes fn(element), computed in f32 or f64; bf16 in f32, and rounded once. Of a
// meta tensor there are none.
template <class Fn>
void map_elements(const Tensor& tensor, Fn fn) {
  if (tensor.meta()) {
    return;
  }
  if (tensor.dtype() == DType::bf16) {
    for (Bf16& element : tensor.as<Bf16>()) {
      element = Bf16(fn(static_cast<float>(element)));
    }
  } else {
    with_elements(tensor,
                  [&](auto elements) { std::ranges::transform(elements, elements.begin(), fn); });
  }
}

}  // namespace ringside
