// Where in the buckets two runs' gradients first have other bits.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "parallel/buckets.hpp"
#include "parallel/deviation.hpp"

namespace ringside {

struct FirstDifference {
  int bucket = -1;            // in the order in which buckets leave; -1: all bits are equal
  std::uint64_t element = 0;  // of the bucket
  double run = 0;
  double reference = 0;
  std::uint64_t elements = 0;  // that differ in all
};

// `layers`: how many tensors each layer has; both values hold a vector for each tensor.
FirstDifference first_difference(const TensorValues& reference, const TensorValues& run,
                                 const std::vector<Bucket>& buckets,
                                 const std::vector<std::size_t>& layers);

}  // namespace ringside
