// The two 16-bit floating-point types, as storage: every sum of them is computed in f32.
//
// bf16 is the upper half of an f32; f16 is IEEE 754 binary16. Conversions round to nearest, ties to
// even; what is too large becomes infinite, and a NaN stays a NaN.
#pragma once

#include <cstdint>

namespace ringside {

struct Bf16 {
  std::uint16_t bits = 0;

  Bf16() = default;
  explicit Bf16(float value);
  explicit operator float() const;
  bool operator==(const Bf16&) const = default;
};

struct F16 {
  std::uint16_t bits = 0;

  F16() = default;
  explicit F16(float value);
  explicit operator float() const;
  bool operator==(const F16&) const = default;
};

}  // namespace ringside
