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
    const Bucket& bucket = buckets[b];
    const auto before = std::accumulate(
        layers.begin(), layers.begin() + static_cast<std::ptrdiff_t>(bucket.layer), std::size_t{0});
    for (std::size_t t = 0; t < bucket.tensors.size(); ++t) {
      const auto& expected = reference[before + bucket.tensors[t]];
      const auto& got = run[before + bucket.tensors[t]];
      for (std::size_t i = 0; i < expected.size(); ++i) {
        if (same_bits(expected[i], got[i])) {
          continue;
        }
        if (first.elements++ == 0) {
          first.bucket = static_cast<int>(b);
          first.element = bucket.firsts[t] + i;
          first.run = got[i];
          first.reference = expected[i];
        }
      }
    }
  }
  return first;
}

}  // namespace ringside
