// Sine and cosine in plain additions and multiplications, as models/elementary.hpp says why.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace ringside {

namespace trigonometry {

// pi/2 in three parts (fdlibm, e_rem_pio2.c): the first two times an integer below 2^20 are exact.
inline constexpr double half_pi_high = 0x1.921fb54400000p+0;
inline constexpr double half_pi_middle = 0x1.0b4611a600000p-34;
inline constexpr double half_pi_low = 0x1.3198a2e037073p-69;

// Of 17 down to 3, and of 16 down to 2, with the signs of the series.
inline constexpr std::array sine_series{
    1.0 / 355687428096000, -1.0 / 1307674368000, 1.0 / 6227020800, -1.0 / 39916800,
    1.0 / 362880,          -1.0 / 5040,          1.0 / 120,        -1.0 / 6};
inline constexpr std::array cosine_series{
    1.0 / 20922789888000, -1.0 / 87178291200, 1.0 / 479001600, -1.0 / 3628800,
    1.0 / 40320,          -1.0 / 720,         1.0 / 24,        -1.0 / 2};

}  // namespace trigonometry

struct SineCosine {
  double sine;
  double cosine;
};

// Of an angle within 10^6 radians; errors below 2^-52.
inline SineCosine sine_cosine(double angle) {
  using namespace trigonometry;
  constexpr double two_over_pi = 0x1.45f306dc9c883p-1;
  constexpr double to_integer = 0x1.8p52;  // its last bit is worth 1, so adding it rounds
  const double shifted = angle * two_over_pi + to_integer;
  const double quarters = shifted - to_integer;
  const double r = ((angle - quarters * half_pi_high) - quarters * half_pi_middle) -
                   quarters * half_pi_low;  // |r| <= pi / 4
  double odd = 0;                           // (sin r - r) / r^3
  double even = 0;                          // (cos r - 1) / r^2
  for (std::size_t i = 0; i < sine_series.size(); ++i) {
    odd = odd * (r * r) + sine_series[i];
    even = even * (r * r) + cosine_series[i];
  }
  const double sine = r + r * (r * r) * odd;
  const double cosine = 1 + (r * r) * even;
  switch (std::bit_cast<std::uint64_t>(shifted) % 4) {
    case 0:
      return {sine, cosine};
    case 1:
      return {cosine, -sine};
    case 2:
      return {-sine, -cosine};
    default:
      return {-cosine, sine};
  }
}

}  // namespace ringside
