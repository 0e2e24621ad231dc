#include "runtime/float16.hpp"

#include <bit>

namespace ringside {

namespace {

constexpr std::uint32_t f32_infinity = 0x7F800000;
constexpr std::uint32_t quiet = 0x00400000;

bool is_nan(std::uint32_t f32_bits) {
  return (f32_bits & 0x7FFFFFFF) > f32_infinity;
}

// value / 2^shift, to nearest, ties to even; 0 < shift < 32.
std::uint32_t rounded_shift(std::uint32_t value, unsigned shift) {
  const std::uint32_t half = 1U << (shift - 1);
  const std::uint32_t odd = (value >> shift) & 1U;
  return (value + half - 1 + odd) >> shift;
}

}  // namespace

// An overflow of the rounding carries into the exponent, which is what it should do.
Bf16::Bf16(float value) {
  const auto f32 = std::bit_cast<std::uint32_t>(value);
  bits = static_cast<std::uint16_t>(is_nan(f32) ? (f32 | quiet) >> 16 : rounded_shift(f32, 16));
}

Bf16::operator float() const {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

F16::F16(float value) {
  constexpr std::uint32_t bias = 127 - 15;
  const auto f32 = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (f32 >> 16) & 0x8000U;
  const std::uint32_t magnitude = f32 & 0x7FFFFFFF;
  std::uint32_t f16 = 0;
  if (is_nan(f32)) {
    f16 = 0x7E00;
  } else if (magnitude >= (127U + 16) << 23) {  // 65536 and more; less may round up to infinity
    f16 = 0x7C00;
  } else if (magnitude >= (127U - 14) << 23) {
    f16 = rounded_shift(magnitude - (bias << 23), 13);
  } else if (magnitude >= (127U - 25) << 23) {  // subnormal: units of 2^-24
    const std::uint32_t mantissa = (magnitude & 0x7FFFFF) | 0x800000;
    f16 = rounded_shift(mantissa, 126 - (magnitude >> 23));
  }
  bits = static_cast<std::uint16_t>(sign | f16);
}

F16::operator float() const {
  const std::uint32_t sign = (bits & 0x8000U) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1FU;
  const std::uint32_t mantissa = bits & 0x3FFU;
  if (exponent == 31) {
    return std::bit_cast<float>(sign | f32_infinity | mantissa << 13);
  }
  if (exponent == 0) {
    const float value = static_cast<float>(mantissa) * 0x1p-24F;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
}

}  // namespace ringside
