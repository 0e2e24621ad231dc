// The sizes of a measurement, from -b to -e.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ringside {

struct SizeSweep {
  std::size_t first = 32UL << 20;
  std::size_t last = 32UL << 20;
  std::size_t step = 1UL << 20;  // added each time
  std::size_t factor = 0;        // 0: add `step`; else multiply
};

// Each size rounded down to a multiple of `unit` bytes, and each once. Multiplying nothing gives
// nothing, so after 0 comes one unit. Throws BadUse for more than 10,000 sizes, or -b above -e.
std::vector<std::size_t> sizes_of(const SizeSweep& sweep, std::size_t unit);

// "64M", "1K", "4", "25 MiB", "1 GB": K, M, G and T are binary, as in nccl-tests. Throws BadUse.
std::size_t size_of_flag(const std::string& flag, const std::string& text);

}  // namespace ringside
