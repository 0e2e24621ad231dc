#include "scenarios/value_hash.hpp"

#include <bit>

#include "models/random.hpp"

namespace ringside {

std::uint64_t hash(std::uint64_t h, const std::vector<double>& elements) {
  for (const double x : elements) {
    h = mix(h ^ std::bit_cast<std::uint64_t>(x));
  }
  return h;
}

std::uint64_t hash(const std::vector<std::vector<double>>& tensors) {
  std::uint64_t h = 0;
  for (const auto& tensor : tensors) {
    h = hash(h, tensor);
  }
  return h;
}

}  // namespace ringside
