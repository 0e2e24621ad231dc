// Sine and cosine against the C library, and their bits.
#include "models/trigonometry.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "models/random.hpp"

namespace ringside {
namespace {

TEST(Trigonometry, AgreesWithTheLibrary) {
  for (std::uint64_t i = 0; i < 200'000; ++i) {
    for (const double size : {1.0, 100.0, 1e6}) {
      const double angle = uniform(mix(i)) * size;
      const auto [sine, cosine] = sine_cosine(angle);
      ASSERT_NEAR(sine, std::sin(angle), 3e-16) << angle;
      ASSERT_NEAR(cosine, std::cos(angle), 3e-16) << angle;
    }
  }
}

TEST(Trigonometry, IsExactAtZero) {
  EXPECT_EQ(sine_cosine(0).sine, 0);
  EXPECT_EQ(sine_cosine(0).cosine, 1);
}

TEST(Trigonometry, ShowsWhatIsNotANumber) {
  EXPECT_TRUE(std::isnan(sine_cosine(std::nan("")).sine));
}

}  // namespace
}  // namespace ringside
