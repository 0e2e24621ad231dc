// exp, log and tanh in plain additions, multiplications and divisions, which IEEE 754 rounds alike
// everywhere.
//
// The C library chooses its own by the processor (with or without fused multiply-add), and packed
// versions treat the middle of an array and its end differently: neither gives the same bits on
// every machine and at every position. Errors are below 4 units in the last place of f64.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace ringside {

namespace elementary {

// ln 2 in two parts (fdlibm, e_exp.c): the first times a small integer is exact.
inline constexpr double ln2_high = 0x1.62e42fee00000p-1;
inline constexpr double ln2_low = 0x1.a39ef35793c76p-33;

// Of 13 down to 2.
inline constexpr std::array inverse_factorials{
    1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320,
    1.0 / 5040,       1.0 / 720,       1.0 / 120,      1.0 / 24,      1.0 / 6,      1.0 / 2};

// Of 23 down to 3.
inline constexpr std::array inverse_odds{1.0 / 23, 1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13,
                                         1.0 / 11, 1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3};

// e^x = scale * (1 + rest), where scale is a power of two and rest is near 0.
struct Exponential {
  double scale;
  double rest;
};

// For -708 <= x <= 709.
inline Exponential split_exponential(double x) {
  constexpr double log2_e = 0x1.71547652b82fep+0;
  constexpr double to_integer = 0x1.8p52;  // its last bit is worth 1, so adding it rounds
  const double shifted = x * log2_e + to_integer;
  const double k = shifted - to_integer;
  const double r = (x - k * ln2_high) - k * ln2_low;  // |r| <= ln(2) / 2
  double series = 0;                                  // (e^r - 1 - r) / r^2, by Taylor
  for (const double coefficient : inverse_factorials) {
    series = series * r + coefficient;
  }
  const std::uint64_t exponent = (std::bit_cast<std::uint64_t>(shifted) + 1023U) << 52U;
  return {std::bit_cast<double>(exponent), r + r * r * series};
}

}  // namespace elementary

// e^x; 0 below x = -708, infinite above 709.
inline double exponential(double x) {
  if (x < -708) {
    return 0;
  }
  if (x > 709) {
    return std::numeric_limits<double>::infinity();
  }
  const auto [scale, rest] = elementary::split_exponential(x);
  return scale + scale * rest;
}

inline double hyperbolic_tangent(double x) {
  const double size = std::abs(x);
  if (size > 20) {
    return std::copysign(1.0, x);
  }
  const auto [scale, rest] = elementary::split_exponential(-2 * size);
  const double decay = scale * rest + (scale - 1);  // e^(-2|x|) - 1, exact near 0 too
  return std::copysign(decay / (2 + decay), x);
}

// The natural logarithm of a normal number above 0.
inline double logarithm(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < 0x1.6a09e667f3bcdp-1) {  // the root of 1/2
    m *= 2;
    --exponent;
  }
  const double s = (m - 1) / (m + 1);  // ln m = 2 artanh s, |s| < 0.172
  double series = 0;
  for (const double coefficient : elementary::inverse_odds) {
    series = (series + coefficient) * (s * s);
  }
  const double k = exponent;
  return k * elementary::ln2_high + (2 * s + (2 * s * series + k * elementary::ln2_low));
}

}  // namespace ringside
