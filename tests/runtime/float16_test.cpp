// The 16-bit types: conversions to the nearest, ties to even, and NaN that stays NaN.
#include "runtime/float16.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>

namespace ringside {
namespace {

float through_bf16(float value) {
  return static_cast<float>(Bf16(value));
}

float through_f16(float value) {
  return static_cast<float>(F16(value));
}

TEST(CaseC4, Bf16RoundsToNearestAndTiesToEven) {
  EXPECT_EQ(through_bf16(3.14F), 3.140625F);
  EXPECT_EQ(through_bf16(257.0F), 256.0F);
  EXPECT_EQ(through_bf16(259.0F), 260.0F);
  EXPECT_EQ(through_bf16(1.01171875F), 1.015625F);
  EXPECT_EQ(through_bf16(FLT_MAX), INFINITY);
  EXPECT_EQ(through_bf16(-FLT_MAX), -INFINITY);
  EXPECT_EQ(Bf16(-0.0F).bits, 0x8000);
}

TEST(CaseC4, NansStayNans) {
  for (const std::uint32_t bits : {0x7F800001U, 0x7FFFFFFFU, 0xFF800001U, 0xFFFFFFFFU}) {
    const auto nan = std::bit_cast<float>(bits);
    EXPECT_TRUE(std::isnan(through_bf16(nan))) << std::hex << bits;
    EXPECT_TRUE(std::isnan(through_f16(nan))) << std::hex << bits;
    EXPECT_EQ(Bf16(nan).bits >> 15, bits >> 31) << "the sign is kept";
  }
}

TEST(CaseC4, F16RoundsToNearestOverItsWholeRange) {
  EXPECT_EQ(through_f16(2049.0F), 2048.0F);
  EXPECT_EQ(through_f16(2051.0F), 2052.0F);
  EXPECT_EQ(through_f16(65504.0F), 65504.0F);
  EXPECT_EQ(through_f16(65519.0F), 65504.0F);
  EXPECT_EQ(through_f16(65520.0F), INFINITY);
  EXPECT_EQ(through_f16(0x1p-24F), 0x1p-24F);
  EXPECT_EQ(through_f16(0x1p-25F), 0.0F);
  EXPECT_EQ(through_f16(0x1.8p-25F), 0x1p-24F);
  EXPECT_EQ(through_f16(0x1.ff8p-15F), 0x1.ff8p-15F) << "the largest subnormal";
}

// Every value of 16 bits is a float, and comes back as it was.
TEST(CaseC4, EveryValueSurvivesTheWayThroughAFloat) {
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    Bf16 b;
    b.bits = static_cast<std::uint16_t>(bits);
    F16 h;
    h.bits = static_cast<std::uint16_t>(bits);
    if (!std::isnan(static_cast<float>(b))) {
      ASSERT_EQ(Bf16(static_cast<float>(b)), b) << std::hex << bits;
    }
    if (!std::isnan(static_cast<float>(h))) {
      ASSERT_EQ(F16(static_cast<float>(h)), h) << std::hex << bits;
    }
  }
}

// Between two neighbours of 16 bits, the nearer one; in the middle, the even one.
template <class T>
void expect_nearest(std::uint16_t lower_bits) {
  T lower;
  T upper;
  lower.bits = lower_bits;
  upper.bits = static_cast<std::uint16_t>(lower_bits + 1);
  const auto low = static_cast<float>(lower);
  const auto high = static_cast<float>(upper);
  const float middle = low + (high - low) / 2;
  ASSERT_EQ(T(std::nextafter(middle, low)), lower) << lower_bits;
  ASSERT_EQ(T(std::nextafter(middle, high)), upper) << lower_bits;
  ASSERT_EQ(T(middle), lower_bits % 2 == 0 ? lower : upper) << lower_bits;
}

TEST(CaseC4, EveryMiddleGoesToTheEvenNeighbour) {
  for (std::uint16_t bits = 0; bits < 0x7BFF; ++bits) {
    expect_nearest<F16>(bits);
  }
  for (std::uint16_t bits = 0x80; bits < 0x7F7F; ++bits) {  // those that are normal floats
    expect_nearest<Bf16>(bits);
  }
}

}  // namespace
}  // namespace ringside
