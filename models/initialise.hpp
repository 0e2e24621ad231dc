// A parameter made from (seed, name): the same whichever rank makes it, and in whatever order.
#pragma once

#include <cmath>

#include "models/layer.hpp"
#include "models/random.hpp"

namespace ringside {

// Uniform in [-scale, scale), rounded to f32, so that f32 and f64 models start equal.
template <class T>
Parameter make_parameter(Device device, std::string name, std::vector<std::size_t> shape,
                         double scale, std::uint64_t seed) {
  Parameter parameter{
      .name = name,
      .value = Tensor(device.memory, dtype_of<T>(), shape, Category::weights, name),
      .grad = Tensor(device.memory, dtype_of<T>(), shape, Category::gradients, name + ".grad")};
  std::uint64_t counter = mix(seed, name);
  for (T& value : parameter.value.template as<T>()) {
    value = static_cast<T>(static_cast<float>(uniform(mix(counter++)) * scale));
  }
  return parameter;
}

}  // namespace ringside
