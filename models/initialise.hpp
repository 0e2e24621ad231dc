// A parameter made from (seed, name): the same whichever rank makes it, and in whatever order.
#pragma once

#include <cmath>

#include "models/layer.hpp"
#include "models/random.hpp"

namespace ringside {

// The elements of [rows, cols] whose places in the whole are not padding, with those places.
template <class T, class Fn>
void for_real_elements(const Parameter& parameter, Fn fn) {
  const Layout& layout = parameter.layout;
  const auto& shape = parameter.value.shape();
  const std::size_t cols = shape.back();
  const bool by_cols = layout.dimension == static_cast<int>(shape.size()) - 1;
  const std::size_t row0 = by_cols || layout.dimension < 0 ? 0 : layout.first;
  const std::size_t col0 = by_cols ? layout.first : 0;
  const std::size_t whole_rows = shape.size() == 1 ? 1 : layout.whole.front();
  const std::size_t whole_cols = layout.whole.back();
  const std::span<T> elements = parameter.value.template as<T>();
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const std::size_t row = row0 + i / cols;
    const std::size_t col = col0 + i % cols;
    if (row < whole_rows && col < whole_cols) {
      fn(elements[i], row * whole_cols + col);
    }
  }
}

// Uniform in [-scale, scale), rounded to f32, so that f32 and f64 models start equal. An element
// depends on its place in the whole only, so a part has the bits of the whole's. In meta memory
// there are none. `shape`: of one or two dimensions.
template <class T>
Parameter make_parameter(Device device, std::string name, std::vector<std::size_t> shape,
                         double scale, std::uint64_t seed, Layout layout = {}) {
  if (layout.whole.empty()) {
    layout.whole = shape;
  }
  Parameter parameter{
      .name = name,
      .value = Tensor(device.memory, dtype_of<T>(), shape, Category::weights, name),
      .grad = Tensor(device.memory, dtype_of<T>(), shape, Category::gradients, name + ".grad"),
      .layout = std::move(layout)};
  if (parameter.value.meta()) {
    return parameter;
  }
  const std::uint64_t first = mix(seed, name);
  for_real_elements<T>(parameter, [&](T& value, std::size_t place) {
    value = static_cast<T>(static_cast<float>(uniform(mix(first + place)) * scale));
  });
  return parameter;
}

}  // namespace ringside
