// A duration by long division, as one would work it out on paper: ceil(amount * 10^12 / rate)
// picoseconds. For formulas that a run's times are held to: the run divides in 128 bits
// (time_for in runtime/units.hpp), and the two share nothing.
#pragma once

#include <cstdint>

#include "runtime/units.hpp"

namespace ringside {

inline Time duration_by_formula(std::int64_t amount, Rate rate) {
  if (rate.per_second == Rate::infinite) {
    return Time{0};
  }
  std::int64_t quotient = amount / rate.per_second;
  std::int64_t left = amount % rate.per_second;
  for (int digit = 0; digit < 12; ++digit) {
    left *= 10;
    quotient = quotient * 10 + left / rate.per_second;
    left %= rate.per_second;
  }
  return Time{quotient + (left > 0 ? 1 : 0)};
}

}  // namespace ringside
