// Members that do not agree on an operation (E1), and members that do not come (E3): who is named,
// and what everybody is told.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <thread>

#include "collectives/all_gather.hpp"
#include "collectives/all_reduce.hpp"
#include "collectives/all_to_all.hpp"
#include "collectives/barrier.hpp"
#include "collectives/broadcast.hpp"
#include "collectives/gather.hpp"
#include "collectives/reduce.hpp"
#include "collectives/reduce_scatter.hpp"
#include "collectives/scatter.hpp"
#include "runtime/errors.hpp"
#include "runtime/tensor.hpp"
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

// The classic fault: two buckets of one size, which one rank reduces in the other order.
TEST_P(Mismatch, OfBucketsInTheOtherOrderNamesBothLabels) {
  for (const std::string_view algorithm : {"ring", "direct", "recursive_doubling", "naive"}) {
    const auto result = run_job(4, GetParam().options(), [&](Rank& rank) -> std::string {
      const Tensor data(rank.memory(), DType::f32, {1000}, Category::gradients, "data");
      const bool swapped = rank.id() == 2;
      for (const bool first : {!swapped, swapped}) {
        all_reduce_async(rank.world(), data, ReduceOp::sum,
                         {algorithm, first ? "grad.bucket.0" : "grad.bucket.1"})
            .wait();
      }
      return {};
    });
    expect_on_every_member(result, {"\"grad.bucket.0\"", "\"grad.bucket.1\"", "#0 of 1000 f32"});
  }
}

TEST_P(Mismatch, OfLongLabelsThatDifferAtTheirEndIsSeen) {
  const auto result = different_calls(2, GetParam().options(), [](Comm& world, Buffer data) {
    const std::string label = "layers.10.mixture.experts.router.weight.";
    all_reduce(world, data, ReduceOp::sum, {"ring", label + std::to_string(world.rank())});
  });
  expect_on_every_member(result, {"\"layers.10.mixture.experts.router.weight.0\"",
                                  "\"layers.10.mixture.experts.router.weight.1\""});
}

using OnTensor = std::function<void(Comm&, const Tensor&, Buffer other)>;

JobResult on_shapes(const JobOptions& options, const std::vector<std::vector<std::size_t>>& shapes,
                    const OnTensor& call) {
  const auto ranks = static_cast<int>(shapes.size());
  return run_job(ranks, options, [&](Rank& rank) -> std::string {
    const auto& shape = shapes[static_cast<std::size_t>(rank.id())];
    const Tensor data(rank.memory(), DType::f32, shape, Category::buffers, "data");
    const Tensor other(rank.memory(), DType::f32, {16}, Category::buffers, "other");
    call(rank.world(), data, other.buffer());
    return {};
  });
}

TEST_P(Mismatch, OfShapesOfOneCountNamesBoth) {
  const std::vector<OnTensor> calls{
      [](Comm& world, const Tensor& data, Buffer) { all_reduce(world, data); },
      [](Comm& world, const Tensor& data, Buffer) { all_reduce_async(world, data).wait(); },
      [](Comm& world, const Tensor& data, Buffer) { reduce_scatter(world, data); },
      [](Comm& world, const Tensor& data, Buffer other) {
        reduce_scatter(world, data, other.slice(0, 8));
      },
      [](Comm& world, const Tensor& data, Buffer) { all_gather(world, data); },
      [](Comm& world, const Tensor& data, Buffer other) { all_to_all(world, data, other); },
      [](Comm& world, const Tensor& data, Buffer) { broadcast(world, data); },
      [](Comm& world, const Tensor& data, Buffer) { reduce(world, data); }};
  for (const auto& call : calls) {
    JobOptions options = GetParam().options();
    options.eager_limit = 0;  // a rank that only sends notices too
    const auto result = on_shapes(options, {{2, 8}, {4, 4}}, call);
    expect_on_every_member(result, {"#0 of 16 f32", ", (2, 8)", ", (4, 4)"});
  }
}

TEST_P(Mismatch, IsNotBetweenABufferAndATensorOfOneDimension) {
  for (const auto& [shape, agree] : {std::pair(std::vector<std::size_t>{16}, true),
                                     std::pair(std::vector<std::size_t>{2, 8}, false)}) {
    const auto result = on_shapes(
        GetParam().options(), {shape, shape}, [](Comm& world, const Tensor& data, Buffer) {
          world.rank() == 0 ? all_reduce(world, data) : all_reduce(world, data.buffer());
        });
    EXPECT_EQ(result.ok(), agree) << result.describe();
  }
}

TEST_P(Mismatch, OfLabelsAloneIsSeenWhereNoShapeIsCompared) {
  const std::vector<OnTensor> calls{
      [](Comm& world, const Tensor& data, Buffer) {
        gather(world, data.buffer(), 0, {"linear", world.rank() == 0 ? "a" : "b"});
      },
      [](Comm& world, const Tensor& data, Buffer) {
        scatter(world, data.buffer(), 0, {"linear", world.rank() == 0 ? "a" : "b"});
      },
      [](Comm& world, const Tensor& data, Buffer other) {
        all_to_all_v(world, data.buffer(), std::array<std::size_t, 2>{8, 8}, other,
                     std::array<std::size_t, 2>{8, 8}, {"pairwise", world.rank() == 0 ? "a" : "b"});
      }};
  for (const auto& call : calls) {
    JobOptions options = GetParam().options();
    options.eager_limit = 0;
    expect_on_every_member(on_shapes(options, {{16}, {16}}, call), {"\"a\"", "\"b\""});
  }
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
