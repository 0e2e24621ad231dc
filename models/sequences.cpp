#include "models/sequences.hpp"

#include <utility>

namespace ringside {

std::shared_ptr<const Sequences> make_sequences(std::vector<std::size_t> lengths) {
  std::vector<std::int32_t> positions;
  for (const std::size_t length : lengths) {
    for (std::size_t i = 0; i < length; ++i) {
      positions.push_back(static_cast<std::int32_t>(i));
    }
  }
  return std::make_shared<const Sequences>(Sequences{std::move(lengths), std::move(positions)});
}

}  // namespace ringside
