// Long division against the run's division in 128 bits: two ways to one number.
#include "scenarios/duration_formula.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace ringside {
namespace {

TEST(DurationFormula, IsRoundedUpToAPicosecond) {
  const Rate nvlink{160'000'000'000};
  EXPECT_EQ(duration_by_formula(1, nvlink), Time(7));
  EXPECT_EQ(duration_by_formula(4, nvlink), Time(25));
  EXPECT_EQ(duration_by_formula(5, nvlink), Time(32));
  EXPECT_EQ(duration_by_formula(0, nvlink), Time(0));
  EXPECT_EQ(duration_by_formula(1'000'000, Rate{}), Time(0)) << "at an infinite rate";
  EXPECT_EQ(duration_by_formula(2'000'000, Rate{100'000'000'000}), Time(20'000'000));
}

RC_GTEST_PROP(DurationFormula, IsWhatARunCharges, ()) {
  const auto amount = *rc::gen::inRange<std::int64_t>(0, 1'000'000'000'000);
  const Rate rate{*rc::gen::inRange<std::int64_t>(1'000'000, 9'000'000'000'000'000'000)};
  RC_ASSERT(duration_by_formula(amount, rate) == time_for(amount, rate));
}

}  // namespace
}  // namespace ringside
