#include "parallel/first_difference.hpp"

#include <bit>
#include <numeric>

namespace ringside {

namespace {

bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

}  // namespace

FirstDifference first_difference(const TensorValues& reference, const TensorValues& run,
                                 const std::vector<Bucket>& buckets,
                                 const std::vector<std::size_t>& layers) {
  FirstDifference first;
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    for (const TensorInBucket& in : buckets[b].tensors) {
      const std::size_t place = std::accumulate(
          layers.begin(), layers.begin() + static_cast<std::ptrdiff_t>(in.layer), in.tensor);
      const auto& expected = reference[place];
      const auto& got = run[place];
      for (std::size_t i = 0; i < expected.size(); ++i) {
        if (same_bits(expected[i], got[i])) {
          continue;
        }
        if (first.elements++ == 0) {
          first.bucket = static_cast<int>(b);
          first.element = in.first + i;
          first.run = got[i];
          first.reference = expected[i];
        }
      }
    }
  }
  return first;
}

}  // namespace ringside
