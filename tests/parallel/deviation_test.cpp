#include "parallel/deviation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "runtime/errors.hpp"

namespace ringside {
namespace {

TEST(Deviation, OfEqualValuesIsZeroAndBitEqual) {
  const auto d = deviation({{1, 2}, {-3}}, {{1, 2}, {-3}}, DType::f32);
  EXPECT_EQ(d.absolute, 0);
  EXPECT_EQ(d.ulps, 0);
  EXPECT_TRUE(d.bit_equal);
}

TEST(Deviation, IsMeasuredAgainstTheLargestOfTheModelAndOfTheTensor) {
  const auto d = deviation({{100}, {1, 0.5}}, {{100}, {1.25, 0.5}}, DType::f64);
  EXPECT_DOUBLE_EQ(d.absolute, 0.25);
  EXPECT_DOUBLE_EQ(d.of_largest, 0.0025);
  EXPECT_DOUBLE_EQ(d.worst_tensor, 0.25);
  EXPECT_FALSE(d.bit_equal);
}

TEST(Deviation, CountsUnitsInTheLastPlaceOfTheElementType) {
  const double next = static_cast<double>(std::nextafter(1.0F, 2.0F));
  EXPECT_NEAR(deviation({{1}}, {{next}}, DType::f32).ulps, 1, 1e-12);
  EXPECT_GT(deviation({{1}}, {{next}}, DType::f64).ulps, 1e8);
}

TEST(Deviation, SeesASignOfZeroAsOtherBitsButNoDistance) {
  const auto d = deviation({{0.0}}, {{-0.0}}, DType::f32);
  EXPECT_EQ(d.absolute, 0);
  EXPECT_FALSE(d.bit_equal);
}

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(Deviation, WhatIsNotFiniteIsInfinitelyFarFromEverythingItselfToo) {
  for (const auto& [reference, run] : {std::pair{1.0, nan},
                                       {nan, 1.0},
                                       {nan, nan},
                                       {infinity, infinity},
                                       {-infinity, infinity},
                                       {infinity, nan}}) {
    const auto d = deviation({{2}, {1, reference}}, {{2}, {1, run}}, DType::f32);
    EXPECT_EQ(d.absolute, infinity) << reference << ", " << run;
    EXPECT_EQ(d.of_largest, infinity);
    EXPECT_EQ(d.worst_tensor, infinity);
    EXPECT_EQ(d.ulps, infinity);
    EXPECT_EQ(d.not_finite.tensor, 1);
    EXPECT_EQ(d.not_finite.index, 1U);
    EXPECT_EQ(d.worst.tensor, 1);
    EXPECT_EQ(relative(reference, run), infinity);
  }
  EXPECT_FALSE(deviation({{nan}}, {{nan}}, DType::f32).bit_equal);
}

TEST(Deviation, NamesTheRunsOwnElementThatIsNotFiniteBeforeTheReferences) {
  const auto d = deviation({{nan, 1}}, {{1, nan}}, DType::f64);
  EXPECT_EQ(d.not_finite.index, 1U);
  EXPECT_EQ(deviation({{1, 2}}, {{1, 2}}, DType::f64).not_finite.tensor, -1);
}

TEST(Deviation, NamesTheElementThatIsFurthestOffInAllAndInItsTensor) {
  const auto d = deviation({{100, 200}, {0.001}}, {{100, 201}, {0.002}}, DType::f64);
  EXPECT_EQ(d.worst.tensor, 0);
  EXPECT_EQ(d.worst.index, 1U);
  EXPECT_EQ(d.worst.run, 201);
  EXPECT_EQ(d.worst.reference, 200);
  EXPECT_EQ(d.worst_in_its.tensor, 1);
  EXPECT_EQ(d.worst_in_its.index, 0U);
  EXPECT_EQ(deviation({{1}}, {{1}}, DType::f64).worst.tensor, -1);
}

TEST(Deviation, RefusesOtherShapes) {
  EXPECT_THROW(deviation({{1}}, {{1}, {2}}, DType::f32), BadUse);
  EXPECT_THROW(deviation({{1}}, {{1, 2}}, DType::f32), BadUse);
}

TEST(Deviation, FromATensorOfZerosIsInfiniteInItself) {
  const Deviation d = deviation({{0, 0}, {1, 2}}, {{0, 1e-15}, {1, 2}}, DType::f64);
  EXPECT_EQ(d.absolute, 1e-15);
  EXPECT_TRUE(std::isinf(d.worst_tensor));
  EXPECT_FALSE(d.bit_equal);
}

}  // namespace
}  // namespace ringside
