// Members that do not agree on an operation (E1), and members that do not come (E3): who is named,
// and what everybody is told.
#include <gtest/gtest.h>

#include <thread>

#include "collectives/all_reduce.hpp"
#include "collectives/barrier.hpp"
#include "collectives/broadcast.hpp"
#include "runtime/errors.hpp"
#include "tests/support/job_shapes.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;

void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
  for (const auto& part : parts) {
    EXPECT_NE(text.find(part), std::string::npos) << "\"" << part << "\" is not in:\n" << text;
  }
}

// Every rank ended without returning, and says what the mismatch was, on both sides.
void expect_on_every_member(const JobResult& result, const std::vector<std::string>& parts) {
  ASSERT_FALSE(result.ok());
  for (const RankOutcome& rank : result.ranks) {
    EXPECT_TRUE(rank.type == "Desync" || rank.ending == Ending::stopped) << result.describe();
    expect_parts(rank.text, parts);
  }
  EXPECT_THROW(result.raise(), Desync);
}

class CaseE1Sizes : public ShapedTest {};

TEST_P(CaseE1Sizes, ThatDifferAreAnErrorOnEveryRankWithBothCounts) {
  struct Counts {
    std::size_t of_rank_0;
    std::size_t of_others;
  };

  for (const Counts counts :
       {Counts{409'600, 409'598}, Counts{256'000, 512'000}, Counts{0, 1000}}) {
    const auto result = run_job(8, GetParam().options(), [&](Rank& rank) -> std::string {
      std::vector<float> data(1000, 1.0F);
      all_reduce(rank.world(), buffer_of(std::span(data)));
      data.assign(rank.id() == 0 ? counts.of_rank_0 : counts.of_others, 1.0F);
      all_reduce(rank.world(), buffer_of(std::span(data)), ReduceOp::sum, {"ring"});
      return {};
    });
    expect_on_every_member(result,
                           {"rank 0", "#1 of " + std::to_string(counts.of_rank_0) + " f32",
                            "#1 of " + std::to_string(counts.of_others) + " f32", "group world"});
  }
}

class Mismatch : public ShapedTest {};

JobResult different_calls(int n, const JobOptions& options,
                          const std::function<void(Comm&, Buffer)>& call) {
  return run_job(n, options, [&](Rank& rank) -> std::string {
    std::vector<float> data(1000, 1.0F);
    call(rank.world(), buffer_of(std::span(data)));
    return {};
  });
}

TEST_P(Mismatch, OfOperationsNamesBothSides) {
  const auto result = different_calls(4, GetParam().options(), [](Comm& world, Buffer data) {
    world.rank() == 2 ? barrier(world) : all_reduce(world, data, ReduceOp::sum, {"ring"});
  });
  expect_on_every_member(result, {"barrier (dissemination) #0", "all_reduce (ring, sum) #0"});
}

TEST_P(Mismatch, OfReductionsAndTypesNamesBothSides) {
  const auto result = different_calls(3, GetParam().options(), [](Comm& world, Buffer data) {
    all_reduce(world, data, world.rank() == 0 ? ReduceOp::sum : ReduceOp::max, {"ring"});
  });
  expect_on_every_member(result, {"(ring, sum) #0", "(ring, max) #0"});
  const auto types = different_calls(3, GetParam().options(), [](Comm& world, Buffer data) {
    data.dtype = world.rank() == 0 ? DType::f32 : DType::i32;
    all_reduce(world, data, ReduceOp::sum, {"ring"});
  });
  expect_on_every_member(types, {"1000 f32", "1000 i32"});
}

// Rank 2 waits for rank 1, which sends to nobody: what comes from rank 0 tells it.
TEST_P(Mismatch, OfRootsThatWouldHangIsFoundAtOnce) {
  const auto result = different_calls(3, GetParam().options(), [](Comm& world, Buffer data) {
    broadcast(world, data, world.rank() == 2 ? 1 : 0, {"linear"});
  });
  EXPECT_LT(result.wall, 20s);
  EXPECT_EQ(result.cause, 2) << result.describe();
  expect_parts(result.ranks[2].text, {"group world: rank 2 is in broadcast (linear) #0",
                                      "from root 1, but rank 0 is in", "from root 0"});
  EXPECT_THROW(result.raise(), Desync);
}

// Nobody receives: each waits to be received from, and has what the other sends in its mailbox.
TEST_P(Mismatch, OfRootsThatAllSendIsFoundWithoutBuffering) {
  JobOptions options = GetParam().options();
  options.eager_limit = 0;
  const auto result = different_calls(2, options, [](Comm& world, Buffer data) {
    broadcast(world, data, world.rank(), {"linear"});
  });
  EXPECT_LT(result.wall, 20s);
  expect_on_every_member(result, {"from root 0", "from root 1"});
}

// Rank 0 calls one operation less; its peers are in the last one, and it has ended.
TEST_P(Mismatch, OfTheNumberOfCallsSaysWhoHasEnded) {
  const auto result = different_calls(3, GetParam().options(), [](Comm& world, Buffer data) {
    all_reduce(world, data, ReduceOp::sum, {"ring"});
    if (world.rank() != 0) {
      all_reduce(world, data, ReduceOp::sum, {"ring"});
    }
  });
  EXPECT_LT(result.wall, 20s);
  expect_parts(result.describe(), {"deadlock: ", "rank 0, which has ended",
                                   "in all_reduce (ring, sum) #1 of 1000 f32 in group world",
                                   "finished all_reduce (ring, sum) #0 of 1000 f32"});
}

INSTANTIATE_TEST_SUITE_P(Shapes, CaseE1Sizes, testing::ValuesIn(job_shapes()), shape_name);
INSTANTIATE_TEST_SUITE_P(Shapes, Mismatch, testing::ValuesIn(job_shapes()), shape_name);

// Processes: a thread that sleeps cannot be ended.
TEST(CaseE3, RanksThatDoNotComeAreNamedAndThoseThatWaitAreNot) {
  JobOptions options = small_job();
  options.limit = 1s;
  const auto result = run_job(16, options, [](Rank& rank) -> std::string {
    std::vector<float> data(1000, 1.0F);
    for (int call = 0; call < 40; ++call) {
      if (call == 37 && (rank.id() == 5 || rank.id() == 11)) {
        std::this_thread::sleep_for(20s);
      }
      all_reduce(rank.world(), buffer_of(std::span(data)), ReduceOp::max, {"ring"});
    }
    return {};
  });
  EXPECT_LT(result.wall, 10s);
  EXPECT_EQ(result.missing, (std::vector<int>{5, 11}));
  const std::string text = result.describe();
  EXPECT_TRUE(text.starts_with("missing: 5, 11 (awaited, and not themselves waiting)\n")) << text;
  expect_parts(
      text, {"past the limit, in recv from rank",
             "in all_reduce (ring, max) #37 of 1000 f32 in group world",
             "finished all_reduce (ring, max) #36 of 1000 f32 in group world", "ranks 5, 11 (pids ",
             ", sleeping): in none; finished all_reduce (ring, max) #36"});
  EXPECT_THROW(result.raise(), PeerLost);
}

// Nobody waits for rank 5 yet: only rank 6 would, and has not come itself.
TEST(CaseE3, ARankThatNobodyWaitsForYetIsMissingToo) {
  JobOptions options = small_job();
  options.limit = 1s;
  const auto result = run_job(8, options, [](Rank& rank) -> std::string {
    std::vector<float> data(1000, 1.0F);
    all_reduce(rank.world(), buffer_of(std::span(data)), ReduceOp::sum, {"ring"});
    if (rank.id() == 5 || rank.id() == 6) {
      std::this_thread::sleep_for(20s);
    }
    all_reduce(rank.world(), buffer_of(std::span(data)), ReduceOp::sum, {"ring"});
    return {};
  });
  EXPECT_EQ(result.missing, (std::vector<int>{5, 6})) << result.describe();
  expect_parts(result.describe(), {"ranks 5-6 stopped while they computed"});
}

}  // namespace
}  // namespace ringside
