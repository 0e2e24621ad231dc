// What depends on nothing: the bits of a result, the modelled times and the log are the same in
// every run, with random delays, whatever the eager limit and the wire.
#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include "collectives/all_gather.hpp"
#include "collectives/all_reduce.hpp"
#include "collectives/broadcast.hpp"
#include "collectives/chunk.hpp"
#include "collectives/collectives.hpp"
#include "collectives/reduce_scatter.hpp"
#include "tests/support/job_shapes.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;

void fill(const Tensor& tensor, int rank) {
  std::uint64_t state = static_cast<std::uint64_t>(rank) + 1;
  for (float& value : tensor.as<float>()) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    value = static_cast<float>(static_cast<double>(state >> 11) / 9007199254740992.0 - 0.5);
  }
}

std::uint64_t hash(std::uint64_t seed, Buffer data) {
  for (std::size_t i = 0; i < data.bytes(); ++i) {
    seed = (seed ^ static_cast<std::uint64_t>(data.data[i])) * 1099511628211U;
  }
  return seed;
}

// Of floats whose sums depend on the order of additions: what each reducing row leaves, in turn.
std::vector<std::vector<std::uint64_t>> bits(const JobOptions& options, int p) {
  return run_ranks_tested(p, options, [](Rank& rank) {
    std::vector<std::uint64_t> hashes;
    for (const auto& row : operation_rows()) {
      for (const auto op : {ReduceOp::sum, ReduceOp::avg, ReduceOp::prod}) {
        const Tensor data(rank.memory(), DType::f32, {1003}, Category::buffers, "data");
        fill(data, rank.id());
        if (!row.reduces || row.rooted || row.algorithm == "hierarchical") {  // adds by node
          continue;
        }
        run_operation(rank.world(), row.operation, row.algorithm, data.buffer(), {}, op, 0);
        Buffer result = data.buffer();
        if (row.operation == "reduce_scatter") {  // put together, so that ranks can be compared
          result = chunk(result, rank.world(), rank.id());
          all_gather(rank.world(), data.buffer());
          result = data.buffer();
        }
        hashes.push_back(hash(14695981039346656037U, result));
      }
    }
    return hashes;
  });
}

class SameBits : public ShapedTest {};

TEST_P(SameBits, OnAllRanksInEveryRunAndOnEveryWire) {
  JobOptions plain;
  plain.as = GetParam().as;  // a test of threads forks nothing
  for (const int p : {2, 5, 8}) {
    const auto expected = bits(plain, p)[0];
    for (int run = 0; run < 3; ++run) {
      for (const auto& of_rank : bits(GetParam().options(), p)) {
        EXPECT_EQ(of_rank, expected) << p << " ranks, run " << run;
      }
    }
  }
}

TEST(SameBitsAs, OfRanksOfTheOtherKind) {
  JobOptions threads;
  threads.as = Ranks::threads;
  EXPECT_EQ(bits(threads, 6), bits({}, 6));
}

// The ring ends a chunk on its own rank: the two halves of an all-reduce give its very bits.
TEST_P(SameBits, AllReduceIsReduceScatterThenAllGather) {
  run_ranks_tested(7, GetParam().options(), [](Rank& rank) {
    const Tensor whole(rank.memory(), DType::f32, {1003}, Category::buffers, "whole");
    const Tensor halves(rank.memory(), DType::f32, {1003}, Category::buffers, "halves");
    for (const auto op : {ReduceOp::sum, ReduceOp::avg}) {
      fill(whole, rank.id());
      fill(halves, rank.id());
      all_reduce(rank.world(), whole.buffer(), op);
      reduce_scatter(rank.world(), halves.buffer(), op);
      all_gather(rank.world(), halves.buffer());
      EXPECT_EQ(hash(1, whole.buffer()), hash(1, halves.buffer())) << name_of(op);
    }
  });
}

// Collectives beside computation, messages both ways, a gather, two groups: 5 ranks.
void some_program(Rank& rank) {
  Comm& world = rank.world();
  Comm dp(rank, "dp", {4, 3, 2, 1, 0});
  const Tensor bucket(rank.memory(), DType::f32, {997}, Category::gradients, "bucket");
  const Tensor other(rank.memory(), DType::f32, {40}, Category::gradients, "other");
  std::vector<std::int32_t> out(20, rank.id());
  std::vector<std::int32_t> in(20);
  for (int step = 0; step < 2; ++step) {
    rank.clock().charge(Time(300ns) * (rank.id() + 1), "backward");
    Request sending = world.isend(world.next(), buffer_of(std::span(out)), 1);
    Work first = all_reduce_async(dp, bucket, ReduceOp::sum, {"ring", "bucket.0"});
    rank.clock().charge(Time(700ns), "backward");
    Work second = all_reduce_async(world, other, ReduceOp::max, {"naive"});
    world.recv(world.prev(), buffer_of(std::span(in)), 1);
    first.wait();
    broadcast(world, buffer_of(std::span(in)), step);
    second.wait();
    sending.wait();
  }
}

// Everything about a message but the wall clock, and, where `links` is false, its link.
std::string text_of(const TrafficRecord& record, bool links) {
  const Envelope& e = record.envelope;
  std::ostringstream text;
  text << e.group_name.chars << '#' << e.signature.sequence << ' ' << e.signature.operation.chars
       << ' ' << e.signature.algorithm.chars << ' ' << e.signature.label.chars << ' '
       << e.phase.chars << ' ' << e.step << ' ' << e.chunk << ' ' << e.source << "->"
       << e.destination << ' ' << e.bytes << ' ' << e.t0.count() << ' ' << e.t1.count() << ' '
       << record.arrival.count() << (links ? name_of(e.link) : "") << '\n';
  return text.str();
}

std::string history(JobOptions options, bool links = true) {
  options.log = LogLevel::full;
  const auto result = run_job_tested(5, options, some_program);
  std::string text = result.ok() ? "" : result.describe();
  for (const auto& rank : result.ranks) {
    text += "ends " + std::to_string(rank.report.modelled.count()) + '\n';
    for (const auto& record : rank.report.records) {
      text += text_of(record, links);
    }
  }
  return text;
}

TEST(SameTimes, In180RunsWithRandomDelays) {
  const std::string expected = history({});
  EXPECT_GT(std::count(expected.begin(), expected.end(), '\n'), 100);
  const std::vector<std::size_t> limits{0, 64, 192, JobOptions{}.eager_limit};
  for (std::uint64_t run = 0; run < 180; ++run) {
    JobOptions options;
    options.disturb = run + 1;
    options.eager_limit = limits[run % limits.size()];
    ASSERT_EQ(history(options), expected) << "run " << run;
  }
}

TEST(SameTimes, InRunsOfThreadsWithRandomDelays) {
  JobOptions options;
  options.as = Ranks::threads;
  const std::string expected = history(options);
  for (std::uint64_t run = 0; run < 12; ++run) {
    options.disturb = run + 1;
    options.eager_limit = run % 2 == 0 ? 0 : 192;
    ASSERT_EQ(history(options), expected) << "run " << run;
  }
}

TEST(SameTimes, OfRanksOfTheOtherKind) {
  JobOptions options;
  options.as = Ranks::threads;
  EXPECT_EQ(history(options), history({}));
}

// A node per rank, or two nodes: sockets. The links are made alike; only their names differ.
TEST(SameTimes, OnSocketsWithRandomDelays) {
  for (const int gpus_per_node : {1, 3}) {
    JobOptions options;
    options.cluster.gpus_per_node = gpus_per_node;
    const std::string expected = history(options);
    for (std::uint64_t run = 0; run < 10; ++run) {
      options.disturb = run + 1;
      options.eager_limit = run % 2 == 0 ? 0 : 192;
      ASSERT_EQ(history(options), expected) << "run " << run;
    }
  }
}

TEST(SameTimes, OnEitherWire) {
  JobOptions options;
  options.cluster.ib = options.cluster.nvlink;
  const std::string expected = history(options, false);
  options.cluster.gpus_per_node = 1;
  EXPECT_EQ(history(options, false), expected);
}

// Negative control: the comparison sees a picosecond.
TEST(SameTimes, ASlightlySlowerLinkIsSeen) {
  JobOptions options;
  options.cluster.nvlink.latency += Time(1);
  EXPECT_NE(history(options), history({}));
}

INSTANTIATE_TEST_SUITE_P(Shapes, SameBits, testing::ValuesIn(job_shapes()), shape_name);

}  // namespace
}  // namespace ringside
