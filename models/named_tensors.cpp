#include "models/named_tensors.hpp"

namespace ringside {

std::string text_of(const std::vector<std::size_t>& shape) {
  std::string text;
  for (const std::size_t extent : shape) {
    text += (text.empty() ? "" : ", ") + std::to_string(extent);
  }
  return "[" + text + "]";
}

}  // namespace ringside
