// Right numbers in a wrong place.
#include "parallel/misplaced.hpp"

#include <gtest/gtest.h>

namespace ringside {
namespace {

const TensorValues reference{{1, 2, 3, 4, 5, 6, 7, 8}, {11, 12, 13, 14, 15, 16}};

TEST(FoundElsewhere, NamesWhereTheReferenceHasARowOfTheRun) {
  TensorValues run = reference;
  for (std::size_t i = 0; i < 4; ++i) {
    run[0][i] = reference[1][i + 1] * (1 + 1e-7);
  }
  const auto first = found_elsewhere(reference, run, {.tensor = 0, .index = 0});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->tensor, 1);
  EXPECT_EQ(first->index, 1U);
  const auto last = found_elsewhere(reference, run, {.tensor = 0, .index = 3});
  ASSERT_TRUE(last) << "a row that ends with the element";
  EXPECT_EQ(last->index, 4U);
}

TEST(FoundElsewhere, SaysNothingOfWhatIsNowhereOrEverywhere) {
  TensorValues run = reference;
  run[0] = {21, 22, 23, 24, 25, 26, 27, 28};
  EXPECT_FALSE(found_elsewhere(reference, run, {.tensor = 0, .index = 0})) << "other numbers";
  const TensorValues zeros{std::vector<double>(8)};
  EXPECT_FALSE(found_elsewhere(zeros, zeros, {.tensor = 0, .index = 0})) << "zeros";
  EXPECT_FALSE(found_elsewhere(reference, reference, {.tensor = 0, .index = 0})) << "itself";
  EXPECT_FALSE(found_elsewhere(reference, reference, {})) << "no element";
}

}  // namespace
}  // namespace ringside
