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
  const auto divisor = static_cast<std::uint64_t>(rate.per_second);
  std::int64_t quotient = amount / rate.per_second;
  auto left = static_cast<std::uint64_t>(amount % rate.per_second);
  for (int place = 0; place < 12; ++place) {
    std::int64_t digit = 0;
    std::uint64_t tenfold = 0;  // added up, for it may be more than 64 bits hold
    for (int i = 0; i < 10; ++i) {
      tenfold += left;
      if (tenfold >= divisor) {
        tenfold -= divisor;
        ++digit;
      }
    }
    quotient = quotient * 10 + digit;
    left = tenfold;
  }
  return Time{quotient + (left > 0 ? 1 : 0)};
}

}  // namespace ringside
