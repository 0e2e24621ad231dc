#include "models/parameter.hpp"

#include <algorithm>
#include <iterator>

namespace ringside {

std::size_t real_extent(const Parameter& parameter) {
  const Layout& layout = parameter.layout;
  if (layout.dimension < 0) {
    return parameter.value.shape().front();
  }
  const auto dimension = static_cast<std::size_t>(layout.dimension);
  const std::size_t end =
      std::min(layout.whole[dimension], layout.first + parameter.value.shape()[dimension]);
  return end - std::min(end, layout.first);
}

void freeze(Parameter& parameter) {
  parameter.trainable = false;
  parameter.grad = Tensor();
}

void unfreeze(Parameter& parameter, DeviceMemory& memory) {
  parameter.trainable = true;
  parameter.grad = Tensor(memory, parameter.value.dtype(), parameter.value.shape(),
                          Category::gradients, parameter.name + ".grad");
}

std::vector<std::vector<Parameter*>> trainable(const std::vector<std::vector<Parameter*>>& layers) {
  std::vector<std::vector<Parameter*>> all;
  for (const auto& layer : layers) {
    auto& kept = all.emplace_back();
    std::ranges::copy_if(layer, std::back_inserter(kept),
                         [](const Parameter* p) { return p->trainable; });
  }
  return all;
}

}  // namespace ringside
