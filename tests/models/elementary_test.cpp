// exp, log and tanh of our own against the C library's, which is right within 1 unit.
#include "models/elementary.hpp"

#include <gtest/gtest.h>

#include "models/random.hpp"

namespace ringside {
namespace {

// |got - want| in units of the last place of `want`.
double units(double got, double want) {
  const double one = std::nextafter(std::abs(want), 1e308) - std::abs(want);
  return std::abs(got - want) / one;
}

TEST(Elementary, ExponentialIsNearTheLibrary) {
  for (int i = 0; i < 100'000; ++i) {
    const double x = -707 + 1415.0 * i / 100'000;
    ASSERT_LE(units(exponential(x), std::exp(x)), 2) << x;
  }
  for (const double x : {-0.3466, 0.3466, -1e-9, 1e-300, 0.0, 1.0}) {
    EXPECT_LE(units(exponential(x), std::exp(x)), 2) << x;
  }
}

TEST(Elementary, HyperbolicTangentIsNearTheLibraryNearZeroToo) {
  for (int i = 1; i < 100'000; ++i) {
    const double wide = 21.0 * i / 100'000;
    const double narrow = std::exp(-wide * 10);
    for (const double x : {wide, -wide, narrow, -narrow}) {
      ASSERT_LE(units(hyperbolic_tangent(x), std::tanh(x)), 4) << x;
    }
  }
}

TEST(Elementary, LogarithmIsNearTheLibrary) {
  for (int i = 1; i < 100'000; ++i) {
    for (const double x : {1 + 1e-5 * i, 1 + 0.7 * i, 1e-5 * i}) {
      ASSERT_LE(units(logarithm(x), std::log(x)), 4) << x;
    }
  }
}

TEST(Elementary, EndsOfTheRange) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(exponential(0), 1);
  EXPECT_EQ(exponential(-infinity), 0);
  EXPECT_EQ(exponential(infinity), infinity);
  EXPECT_EQ(hyperbolic_tangent(infinity), 1);
  EXPECT_EQ(hyperbolic_tangent(-1000), -1);
  EXPECT_TRUE(std::signbit(hyperbolic_tangent(-0.0)));
  EXPECT_EQ(logarithm(1), 0);
  EXPECT_TRUE(std::isnan(exponential(std::nan(""))));
  EXPECT_TRUE(std::isnan(hyperbolic_tangent(std::nan(""))));
  EXPECT_TRUE(std::isnan(logarithm(std::nan(""))));
}

// Found alike at -O0 and -O3, with AVX2 and FMA, by GCC and Clang.
TEST(Elementary, HasTheSameBitsOnEveryMachine) {
  EXPECT_EQ(exponential(1), 0x1.5bf0a8b14576ap+1);  // the library: ...769
  EXPECT_EQ(exponential(-20.3), 0x1.a3b8dc86d1c8ep-30);
  EXPECT_EQ(logarithm(77.7), 0x1.16952e37a90acp+2);
  EXPECT_EQ(hyperbolic_tangent(1.7), 0x1.deedf00d3e7f4p-1);
  std::uint64_t hash = 0;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    const double u = uniform(mix(i));
    for (const double y : {exponential(30 * u), hyperbolic_tangent(3 * u), logarithm(2.5 + u)}) {
      hash = mix(hash ^ std::bit_cast<std::uint64_t>(y));
    }
  }
  EXPECT_EQ(hash, 0xa5ea4500fd59c582U);
}

}  // namespace
}  // namespace ringside
