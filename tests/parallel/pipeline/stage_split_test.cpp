// Layers dealt out to stages.
#include "parallel/pipeline/stage_split.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "runtime/errors.hpp"

namespace ringside {
namespace {

TEST(StageSplit, CaseI1ByNumberGivesTheFirstStagesOneMore) {
  EXPECT_EQ(split_by_number(30, 4, 0, 0), (StageSplit{8, 8, 7, 7}));
  const StageSplit of_61 = split_by_number(61, 16, 0, 0);
  EXPECT_EQ(std::accumulate(of_61.begin(), of_61.end(), std::size_t{0}), 61U);
  EXPECT_EQ(of_61.front(), 4U);
  EXPECT_EQ(of_61.back(), 3U);
  EXPECT_EQ(split_by_number(5, 2, 1, 2), (StageSplit{4, 4}));
  EXPECT_EQ(split_text(split_by_number(30, 4, 0, 0)), "8 + 8 + 7 + 7");
  EXPECT_EQ(split_text(of_61), "13 x 4 + 3 x 3");
  EXPECT_EQ(split_text({2, 1, 1, 1, 3}), "2 + 3 x 1 + 3");
  EXPECT_EQ(split_text({32, 32, 32, 32, 2, 1}, ","), "4 x 32,2,1");
}

TEST(StageSplit, CaseI1MoreStagesThanBlocksAreRefused) {
  try {
    split_by_number(7, 8, 1, 2);
    FAIL();
  } catch (const BadUse& e) {
    EXPECT_NE(std::string(e.what()).find("at most 7 stages"), std::string::npos) << e.what();
  }
}

// The least possible cost of the most expensive stage, by trying every cut.
std::int64_t best(const std::vector<std::int64_t>& costs, std::size_t from, int stages) {
  if (stages == 1) {
    return std::accumulate(costs.begin() + static_cast<std::ptrdiff_t>(from), costs.end(),
                           std::int64_t{0});
  }
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t own = 0;
  for (std::size_t to = from; to < costs.size(); ++to) {
    own += costs[to];
    least = std::min(least, std::max(own, best(costs, to + 1, stages - 1)));
  }
  return least;
}

std::int64_t most_expensive(const std::vector<std::int64_t>& costs, const StageSplit& split) {
  std::int64_t most = 0;
  auto at = costs.begin();
  for (const std::size_t count : split) {
    most = std::max(most,
                    std::accumulate(at, at + static_cast<std::ptrdiff_t>(count), std::int64_t{0}));
    at += static_cast<std::ptrdiff_t>(count);
  }
  EXPECT_EQ(at, costs.end());
  return most;
}

TEST(StageSplit, ByCostIsAsBalancedAsCanBe) {
  const std::vector<std::vector<std::int64_t>> all{
      {0, 10, 10, 10, 10, 10, 10, 10, 10, 0, 33},  // a head worth 3.3 blocks
      {5, 1, 1, 1, 9, 2, 2, 7},
      {1, 1, 1, 1},
      {0, 4, 4, 4, 0, 1}};
  for (const auto& costs : all) {
    for (int stages = 1; stages <= 4; ++stages) {
      EXPECT_EQ(most_expensive(costs, split_by_cost(costs, stages)), best(costs, 0, stages));
    }
  }
}

TEST(StageSplit, ByCostGivesEveryStageALayerThatCosts) {
  EXPECT_EQ(split_by_cost({0, 1, 1, 0, 100}, 3), (StageSplit{2, 2, 1}));
  EXPECT_THROW(split_by_cost({0, 1, 1, 0, 100}, 4), BadUse);
}

TEST(StageSplit, ADevicesLayersAreThoseOfItsStages) {
  EXPECT_EQ(layers_of({3, 2, 4, 1}, {1, 3}), (std::vector<std::size_t>{3, 4, 9}));
}

}  // namespace
}  // namespace ringside
