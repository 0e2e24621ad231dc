// Whole tensors by name, outside device memory: what the state of a training is when it is stored.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "runtime/dtype.hpp"

namespace ringside {

struct HostTensor {
  DType dtype = DType::f32;
  std::vector<std::size_t> shape{};  // [] is a single number
  std::vector<std::byte> bytes{};    // row by row, little-endian

  bool operator==(const HostTensor&) const = default;
};

using NamedTensors = std::map<std::string, HostTensor>;

// "[10, 4]".
std::string text_of(const std::vector<std::size_t>& shape);

}  // namespace ringside
