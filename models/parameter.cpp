#include "models/parameter.hpp"

#include <algorithm>

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

}  // namespace ringside
