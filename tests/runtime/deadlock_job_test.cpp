// Deadlocks of real jobs, found by the launcher while the ranks' own limits are far away.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "runtime/comm.hpp"
#include "runtime/errors.hpp"
#include "tests/support/job_shapes.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;
using Numbers = std::vector<std::int32_t>;

constexpr std::size_t large = 64UL << 20;  // bytes

void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
  for (const auto& part : parts) {
    EXPECT_NE(text.find(part), std::string::npos) << "\"" << part << "\" is not in:\n" << text;
  }
}

void receive(Rank& rank, int from) {
  Numbers in(1000);
  rank.world().recv(from, buffer_of(std::span(in)));
}

void send(Rank& rank, int to) {
  Numbers out(1000);
  rank.world().send(to, buffer_of(std::span(out)));
}

class DeadlockJob : public ShapedTest {};

class CaseB4Large : public ShapedTest {};

TEST_P(DeadlockJob, ACycleIsFoundLongBeforeTheLimitAndWhileOthersWork) {
  std::atomic<bool> over{false};
  const auto result = run_job(4, GetParam().options(), [&](Rank& rank) -> std::string {
    if (rank.id() == 0) {  // works until the job is ended
      for (int i = 0; i < 5000; ++i) {
        rank.clock().charge_flops(1000, "block");
        std::this_thread::sleep_for(1ms);
        if (rank.options().as == Ranks::threads && over) {
          break;
        }
      }
      return {};
    }
    try {
      receive(rank, rank.id() % 3 + 1);
    } catch (...) {
      over = true;
      throw;
    }
    return {};
  });
  EXPECT_LT(result.wall, 20s);
  EXPECT_EQ(result.cause, 1);
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->ranks, (std::vector<int>{1, 2, 3}));
  expect_parts(result.describe(),
               {"deadlock: rank 1 -> 2 -> 3 -> 1\n", "rank 3: recv from rank 1"});
  expect_parts(result.ranks[2].text, {"stopped in recv from rank 3", "deadlock: rank 1 -> 2"});
  EXPECT_THROW(result.raise(), Deadlock);
}

TEST_P(DeadlockJob, AWaitForARankThatHasEndedIsFound) {
  const auto result = run_job(3, GetParam().options(), [&](Rank& rank) -> std::string {
    if (rank.id() < 2) {
      receive(rank, rank.id() + 1);
    }
    return {};
  });
  EXPECT_LT(result.wall, 20s);
  expect_parts(result.describe(), {"deadlock: rank 1 waits for rank 2, which has ended",
                                   "recv from rank 1", "rank 2 "});
}

TEST_P(CaseB4Large, BothInSendIsNamed) {
  JobOptions options = GetParam().options();
  options.region_bytes = 2 * large;
  const auto result = run_job(2, options, [](Rank& rank) -> std::string {
    const Tensor data(rank.memory(), DType::u8, {large}, Category::buffers, "data");
    rank.world().send(1 - rank.id(), data.buffer());
    rank.world().recv(1 - rank.id(), data.buffer());
    return {};
  });
  EXPECT_LT(result.wall, 20s);
  expect_parts(result.describe(),
               {"deadlock: rank 0 -> 1 -> 0\n",
                "rank 0: send to rank 1 in group world, tag 0, " + to_string(Bytes{large}),
                "rank 1: send to rank 0", "0 and 1 both in send, no receive posted"});
  EXPECT_THROW(result.raise(), Deadlock);
}

TEST_P(CaseB4Large, IsendAndIrecvComplete) {
  JobOptions options = GetParam().options();
  options.region_bytes = 3 * large;
  run_ranks_tested(2, options, [](Rank& rank) {
    const Tensor out(rank.memory(), DType::u8, {large}, Category::buffers, "out");
    const Tensor in(rank.memory(), DType::u8, {large}, Category::buffers, "in");
    out.as<std::uint8_t>().back() = static_cast<std::uint8_t>(rank.id() + 1);
    Request sending = rank.world().isend(1 - rank.id(), out.buffer());
    Request receiving = rank.world().irecv(1 - rank.id(), in.buffer());
    receiving.wait();
    sending.wait();
    EXPECT_EQ(in.as<std::uint8_t>().back(), 2 - rank.id());
  });
}

TEST_P(DeadlockJob, CaseB4ARingOfBlockingSendsIsNamedAndOneOfIsendsCompletes) {
  for (const bool blocking : {true, false}) {
    const auto result = run_job_tested(5, GetParam().options(), [&](Rank& rank) {
      Numbers out(1000, rank.id());
      Numbers in(1000, -1);
      Comm& world = rank.world();
      if (blocking) {
        world.send(world.next(), buffer_of(std::span(out)));
        world.recv(world.prev(), buffer_of(std::span(in)));
      } else {
        Request sending = world.isend(world.next(), buffer_of(std::span(out)));
        world.recv(world.prev(), buffer_of(std::span(in)));
        sending.wait();
      }
      EXPECT_EQ(in, Numbers(1000, world.prev()));
    });
    EXPECT_EQ(result.ok(), !blocking) << result.describe();
    if (blocking) {
      expect_parts(result.describe(), {"deadlock: rank 0 -> 1 -> 2 -> 3 -> 4 -> 0\n",
                                       "0, 1, 2, 3 and 4 all in send, no receive posted"});
    }
  }
}

// The ranks that wait in it are freed late: parked all the while, and no alarm.
TEST_P(DeadlockJob, ALongWaitForARankThatWorksIsNone) {
  const auto result = run_job(3, GetParam().options(), [](Rank& rank) -> std::string {
    if (rank.id() > 0) {
      receive(rank, rank.id() - 1);
    } else {
      std::this_thread::sleep_for(400ms);
    }
    if (rank.id() < 2) {
      send(rank, rank.id() + 1);
    }
    return {};
  });
  EXPECT_TRUE(result.ok()) << result.describe();
}

// Rank 1 has ended while what it sent is still under way.
TEST_P(DeadlockJob, WhatARankSentBeforeItEndedIsNoDeadlock) {
  JobOptions options = GetParam().options();
  options.disturb = 7;
  for (int round = 0; round < 10; ++round) {
    const auto result = run_job(3, options, [](Rank& rank) -> std::string {
      Numbers few(10);
      const Buffer data = buffer_of(std::span(few));
      for (int i = 0; i < 20; ++i) {
        if (rank.id() == 0) {
          rank.world().recv(1, data);
          rank.world().recv(2, data);
        } else {
          rank.world().send(0, data);
        }
      }
      return {};
    });
    ASSERT_TRUE(result.ok()) << result.describe();
  }
}

std::vector<JobShape> shapes_of_two() {
  const auto all = job_shapes();
  return {all[0], all[1], all[2], all[4]};
}

INSTANTIATE_TEST_SUITE_P(Shapes, CaseB4Large, testing::ValuesIn(shapes_of_two()), shape_name);
INSTANTIATE_TEST_SUITE_P(Shapes, DeadlockJob, testing::ValuesIn(job_shapes()), shape_name);

}  // namespace
}  // namespace ringside
