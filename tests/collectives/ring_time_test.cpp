// Modelled times of whole collectives, exact to the picosecond, and of collectives beside
// computation. The links are the defaults unless a test says otherwise: 160 GB/s, 1 us.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "collectives/all_reduce.hpp"
#include "collectives/chunk.hpp"
#include "tests/support/job_shapes.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;

Time ns(std::int64_t count) {
  return Time(std::chrono::nanoseconds(count));
}

Tensor floats(Rank& rank, std::size_t count) {
  return {rank.memory(), DType::f32, {count}, Category::buffers, "data"};
}

std::vector<Time> ends_of_ring(int p, const JobOptions& options, std::size_t count) {
  return run_ranks_tested(p, options, [count](Rank& rank) {
    const Tensor data = floats(rank, count);
    all_reduce(rank.world(), data.buffer());
    return rank.now();
  });
}

class RingTime : public ShapedTest {};

// Steps of (latency + chunk / bandwidth), 2 (p - 1) of them.
Time formula(int p, std::size_t chunk_bytes, const Link& link) {
  return 2 * (p - 1) * (link.latency + link.duration(static_cast<std::int64_t>(chunk_bytes)));
}

// 16 MB over 8 ranks: 14 · (1 us + 12.5 us).
TEST_P(RingTime, SixteenMegabytesOverEightRanks) {
  JobOptions options = GetParam().options();
  options.cluster.ib = options.cluster.nvlink;
  const auto times = ends_of_ring(8, options, 4'000'000);
  EXPECT_EQ(times, std::vector<Time>(8, 14 * (1us + ns(12'500))));
}

TEST_P(RingTime, IsTheFormulaWhereRanksDivideTheCount) {
  JobOptions options = GetParam().options();
  options.cluster.ib = options.cluster.nvlink;
  for (int p = 2; p <= 8; ++p) {
    const std::size_t n = 840;  // divisible by all of them
    const Time expected = formula(p, n / static_cast<std::size_t>(p) * 4, options.cluster.nvlink);
    EXPECT_EQ(ends_of_ring(p, options, n), std::vector<Time>(static_cast<std::size_t>(p), expected))
        << p << " ranks";
  }
}

TEST_P(RingTime, LiesBetweenTheFormulasOfBothChunksElsewhere) {
  JobOptions options = GetParam().options();
  options.cluster.ib = options.cluster.nvlink = {Rate{1'000'000'000}, ns(10)};
  for (const int p : {3, 7, 8}) {
    for (const std::size_t n : {1UL, 5UL, 11UL, 1001UL}) {
      const std::size_t small = n / static_cast<std::size_t>(p) * 4;
      for (const Time end : ends_of_ring(p, options, n)) {
        EXPECT_GE(end, formula(p, small, options.cluster.nvlink)) << p << " ranks, " << n;
        EXPECT_LE(end, formula(p, small + 4, options.cluster.nvlink)) << p << " ranks, " << n;
      }
    }
  }
}

// In two nodes of 4 the two slow links of the ring pass on a chunk every 8 us, without a pause:
// what comes round is there in time (2 · 13 us + 6 · 3.5 us for 8 steps). So their latency shows
// once.
TEST(RingTimeOfNodes, TheSlowestLinkSetsThePace) {
  JobOptions options;
  options.cluster.gpus_per_node = 4;
  const auto times = ends_of_ring(8, options, 800'000);  // chunks of 400 kB: 8 us of ib
  EXPECT_EQ(*std::max_element(times.begin(), times.end()), 14 * 8us + 5us);
}

class Overlap : public ShapedTest {
 protected:
  JobOptions options() const {
    JobOptions options = GetParam().options();
    options.cluster.ib = options.cluster.nvlink;
    return options;
  }
};

// 1.6 MB over 4 ranks: 6 · (1 us + 2.5 us).
constexpr std::size_t bucket = 400'000;
const Time once = 21us;

TEST_P(Overlap, OnlyWhatComputationDoesNotHideIsExposed) {
  for (const Time compute : {Time(0us), Time(8us), once, Time(50us)}) {
    const auto ends = run_ranks_tested(4, options(), [compute](Rank& rank) {
      const Tensor data = floats(rank, bucket);
      Work work = all_reduce_async(rank.world(), data);
      EXPECT_EQ(work.end(), once);
      EXPECT_EQ(rank.now(), Time(0)) << "a launch takes no time of the program";
      rank.clock().charge(compute, "backward");
      work.wait();
      return rank.now();
    });
    EXPECT_EQ(ends, std::vector<Time>(4, std::max(compute, once)));
  }
}

TEST_P(Overlap, ALaunchStartsWhenTheProgramHasComeToIt) {
  run_ranks_tested(4, options(), [](Rank& rank) {
    const Tensor data = floats(rank, bucket);
    rank.clock().charge(Time(30us), "backward");
    Work work = all_reduce_async(rank.world(), data);
    EXPECT_EQ(work.end(), 30us + once);
    work.wait();
  });
}

TEST_P(Overlap, WorksOfOneGroupFollowEachOther) {
  run_ranks_tested(4, options(), [](Rank& rank) {
    const Tensor a = floats(rank, bucket);
    const Tensor b = floats(rank, bucket);
    Work first = all_reduce_async(rank.world(), a);
    Work second = all_reduce_async(rank.world(), b);
    EXPECT_EQ(first.end(), once);
    EXPECT_EQ(second.end(), 2 * once);
    first.wait();
    EXPECT_EQ(rank.now(), once) << "waiting for A is not waiting for B launched after it";
    second.wait();
    EXPECT_EQ(rank.now(), 2 * once);
  });
}

// Two groups are two streams, but one link: together they take what their bytes take, less the
// latencies, which run beside each other.
TEST_P(Overlap, WorksOfTwoGroupsShareTheLink) {
  JobOptions no_latency = options();
  no_latency.cluster.nvlink.latency = no_latency.cluster.ib.latency = Time(0);
  const auto ends = run_ranks_tested(4, no_latency, [](Rank& rank) {
    Comm dp(rank, "dp", {0, 1, 2, 3});
    Comm tp(rank, "tp", {0, 1, 2, 3});
    const Tensor a = floats(rank, bucket);
    const Tensor b = floats(rank, bucket);
    Work first = all_reduce_async(dp, a);
    Work second = all_reduce_async(tp, b);
    EXPECT_EQ(first.end(), 15us) << "booked before anybody else wanted the link";
    EXPECT_EQ(second.end(), 30us) << "half the link while both were at work, then all of it";
    first.wait();
    EXPECT_EQ(rank.now(), 30us) << "the last work of a stream ends when its debts are paid";
    second.wait();
    return rank.now();
  });
  EXPECT_EQ(ends, std::vector<Time>(4, Time(30us)));
}

class InFlight : public ShapedTest {};

TEST_P(InFlight, TouchingNamesTheMissingWait) {
  run_ranks_tested(2, GetParam().options(), [](Rank& rank) {
    const Tensor data = floats(rank, 100);
    const Tensor view = data.view(0, {10}, "bias");
    Work work = all_reduce_async(rank.world(), data);
    try {
      view.as<float>()[0] = 1;
      ADD_FAILURE() << "the tensor could be touched";
    } catch (const BadUse& error) {
      EXPECT_EQ(std::string(error.what()),
                "tensor \"bias\" is in flight in all_reduce on group world: wait() for that work "
                "before touching it");
    }
    EXPECT_THROW(static_cast<void>(all_reduce_async(rank.world(), data)), BadUse);
    work.wait();
    EXPECT_EQ(data.as<float>()[0], 0);
    work.wait();  // once is enough; twice does no harm
  });
}

class OutOfStep : public ShapedTest {};

// Each kind of disagreement is found, and both sides are named.
void expect_desync(const JobShape& shape, const std::function<void(Rank&)>& fn,
                   const std::vector<std::string>& parts) {
  const auto result = run_job_tested(2, shape.options(), fn);
  ASSERT_FALSE(result.ok());
  const auto& cause = result.ranks[static_cast<std::size_t>(result.cause)];
  EXPECT_EQ(cause.type, "Desync") << cause.text;
  for (const auto& part : parts) {
    EXPECT_NE(cause.text.find(part), std::string::npos) << part << " in: " << cause.text;
  }
}

TEST_P(OutOfStep, CountsTypesAndReductionsThatDifferAreNamed) {
  expect_desync(GetParam(),
                [](Rank& rank) {
                  std::vector<float> data(rank.id() == 0 ? 100 : 102);
                  all_reduce(rank.world(), buffer_of(std::span(data)));
                },
                {"group world", "(ring, sum) #0 of 100 f32", "(ring, sum) #0 of 102 f32"});
  expect_desync(GetParam(),
                [](Rank& rank) {
                  std::vector<float> floats(100);
                  std::vector<std::int32_t> ints(100);
                  all_reduce(rank.world(), rank.id() == 0 ? buffer_of(std::span(floats))
                                                          : buffer_of(std::span(ints)));
                },
                {"of 100 f32", "of 100 i32"});
  expect_desync(GetParam(),
                [](Rank& rank) {
                  std::vector<float> data(100);
                  all_reduce(rank.world(), buffer_of(std::span(data)),
                             rank.id() == 0 ? ReduceOp::sum : ReduceOp::max);
                },
                {"(ring, sum)", "(ring, max)"});
}

INSTANTIATE_TEST_SUITE_P(Shapes, RingTime, testing::ValuesIn(job_shapes()), shape_name);
INSTANTIATE_TEST_SUITE_P(Shapes, Overlap, testing::ValuesIn(job_shapes()), shape_name);
INSTANTIATE_TEST_SUITE_P(Shapes, InFlight, testing::ValuesIn(one_node_shapes()), shape_name);
INSTANTIATE_TEST_SUITE_P(Shapes, OutOfStep, testing::ValuesIn(one_node_shapes()), shape_name);

// Without latency, on two ranks: rank 0 borrows the longer chunk, adds, and gives it back, which
// takes longer than what comes back to it. A rank has ended when its own sends have left.
TEST(DirectTime, IncludesWhatARankGivesBack) {
  JobOptions no_latency;
  no_latency.cluster.nvlink.latency = Time(0);
  const auto ends = run_ranks_tested(2, no_latency, [](Rank& rank) {
    const Tensor data = floats(rank, 2001);
    return all_reduce_async(rank.world(), data, ReduceOp::sum, {"direct"}).end();
  });
  EXPECT_EQ(ends, std::vector<Time>(2, Time(2 * 1001 * 25)));  // 4 bytes in 25 ps
}

}  // namespace
}  // namespace ringside
