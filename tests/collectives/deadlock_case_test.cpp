// Case E2: operations of two groups, called in orders that do and do not fit together.
#include <gtest/gtest.h>

#include "collectives/all_reduce.hpp"
#include "runtime/errors.hpp"
#include "tests/support/job_shapes.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;

class CaseE2Order : public ShapedTest {};

// TP = {0,1}, {2,3}; DP = {0,2}, {1,3}. Each rank calls both, `dp_first` or not.
JobResult both_groups(const JobOptions& options, std::vector<bool> dp_first) {
  return run_job_tested(4, options, [&](Rank& rank) {
    const int me = rank.id();
    Comm tp(rank, "tp", {me / 2 * 2, me / 2 * 2 + 1});
    Comm dp(rank, "dp", {me % 2, me % 2 + 2});
    std::vector<float> of_tp(1000, 1.0F);
    std::vector<float> of_dp(1000, 1.0F);
    const auto call = [&](Comm& comm) {
      all_reduce(comm, buffer_of(std::span(&comm == &tp ? of_tp : of_dp)));
    };
    const bool first = dp_first[static_cast<std::size_t>(me)];
    call(tp);  // number 0 of both, in one order
    call(dp);
    call(first ? dp : tp);
    call(first ? tp : dp);
    EXPECT_EQ(of_tp, std::vector<float>(1000, 4.0F));
    EXPECT_EQ(of_dp, std::vector<float>(1000, 4.0F));
  });
}

TEST_P(CaseE2Order, OppositeOrdersPrintTheCycleWithGroupAndCall) {
  const auto result = both_groups(GetParam().options(), {true, false, false, true});
  EXPECT_LT(result.wall, 20s);
  ASSERT_FALSE(result.ok());
  const std::string text = result.describe();
  for (const std::string part :
       {"deadlock: rank 0 -> 2 -> 3 -> 1 -> 0\n",
        "rank 0: recv from rank 2 in group dp, all_reduce (ring) #1, step 0",
        "rank 2: recv from rank 3 in group tp, all_reduce (ring) #1, step 0",
        "rank 3: recv from rank 1 in group dp, all_reduce (ring) #1, step 0",
        "rank 1: recv from rank 0 in group tp, all_reduce (ring) #1, step 0",
        "call the operations of its groups in an order that fits"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nis not in\n" << text;
  }
  EXPECT_THROW(result.raise(), Deadlock);
}

TEST_P(CaseE2Order, OneRankInAnotherOrderCompletesWithoutAlarm) {
  for (int round = 0; round < 20; ++round) {
    const auto result = both_groups(GetParam().options(), {true, true, true, false});
    ASSERT_TRUE(result.ok()) << result.describe();
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, CaseE2Order, testing::ValuesIn(job_shapes()), shape_name);

}  // namespace
}  // namespace ringside
