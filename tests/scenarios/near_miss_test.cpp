#include "scenarios/near_miss.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ringside {
namespace {

const std::vector<std::string> scenarios{"dp/gradient_equivalence", "dp/naive_gather", "dp/overlap",
                                         "dp/no_overlap", "dp/ring"};

TEST(NearMiss, CountsEditsAndSwapsOfNeighbours) {
  EXPECT_EQ(edit_distance("ring", "ring"), 0U);
  EXPECT_EQ(edit_distance("rng", "ring"), 1U);
  EXPECT_EQ(edit_distance("rnig", "ring"), 1U);
  EXPECT_EQ(edit_distance("", "ring"), 4U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(NearMiss, ComparesWithoutCaseInAnyLocale) {
  EXPECT_EQ(edit_distance("RING", "ring"), 0U);
}

TEST(NearMiss, FindsSlipsAndLastParts) {
  EXPECT_EQ(nearest("dp/gradient_equivalance", scenarios), "dp/gradient_equivalence");
  EXPECT_EQ(nearest("ring", scenarios), "dp/ring");
  EXPECT_EQ(nearest("overlap", scenarios), "dp/overlap");
  EXPECT_EQ(nearest("dp.ring", scenarios), "dp/ring");
  EXPECT_EQ(did_you_mean("dp/rign", scenarios), "; did you mean dp/ring?");
}

TEST(NearMiss, SuggestsNothingForWhatIsNoSlip) {
  EXPECT_EQ(nearest("zebra", scenarios), "");
  EXPECT_EQ(nearest("", scenarios), "");
  EXPECT_EQ(nearest("x", scenarios), "");
  EXPECT_EQ(nearest(std::string(100'000, 'r'), scenarios), "");
  EXPECT_EQ(did_you_mean("zebra", scenarios), "");
}

}  // namespace
}  // namespace ringside
