// Modelled times of messages, worked by hand. Links: 1 GB/s (1 byte a ns) and 1 us inside a node,
// 100 MB/s and 5 us between nodes, so that a message of 1000 bytes takes 1 us or 10 us of the link.
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "runtime/comm.hpp"
#include "tests/support/job_shapes.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;

class ModelledTime : public ShapedTest {
 protected:
  JobOptions options() const {
    JobOptions options = GetParam().options();
    options.cluster.nvlink = {Rate{1'000'000'000}, 1us};
    options.cluster.ib = {Rate{100'000'000}, 5us};
    return options;
  }

  // When each rank's program is at the end of `fn`.
  template <class Fn>
  std::vector<Time> ends(int n, const JobOptions& options, Fn&& fn) {
    return run_ranks_tested(n, options, [&](Rank& rank) {
      fn(rank, rank.world());
      return rank.now();
    });
  }
};

// So many bytes to send or to receive into.
struct Data {
  explicit Data(std::size_t bytes) : bytes_(bytes) {}

  operator Buffer() { return buffer_of(std::span(bytes_)); }  // NOLINT

 private:
  std::vector<std::uint8_t> bytes_;
};

TEST_P(ModelledTime, AMessageTakesLatencyAndDuration) {
  const auto times = ends(2, options(), [](Rank& rank, Comm& world) {
    Data data(1000);
    rank.id() == 0 ? world.send(1, data) : world.recv(0, data);
  });
  const bool nvlink = GetParam().gpus_per_node != 1;
  EXPECT_EQ(times[0], nvlink ? Time(1us) : Time(10us)) << "the sender goes on when it is away";
  EXPECT_EQ(times[1], nvlink ? Time(2us) : Time(15us));
}

TEST_P(ModelledTime, AnEmptyMessageTakesTheLatency) {
  const auto times = ends(2, options(), [](Rank& rank, Comm& world) {
    rank.id() == 0 ? world.send(1, {}) : world.recv(0, {});
  });
  EXPECT_EQ(times[0], Time(0));
  EXPECT_EQ(times[1], GetParam().gpus_per_node != 1 ? Time(1us) : Time(5us));
}

TEST_P(ModelledTime, ALateSenderIsWaitedFor) {
  const auto times = ends(2, options(), [](Rank& rank, Comm& world) {
    Data data(1000);
    if (rank.id() == 0) {
      rank.clock().charge(Time(1ms), "compute");
      world.send(1, data);
    } else {
      world.recv(0, data);
    }
  });
  EXPECT_EQ(times[1] - times[0], GetParam().gpus_per_node != 1 ? Time(1us) : Time(5us));
  EXPECT_EQ(times[0], GetParam().gpus_per_node != 1 ? Time(1001us) : Time(1010us));
}

// The message has long arrived when the receiver asks; a blocking send does not wait for that.
TEST_P(ModelledTime, ALateReceiverLosesNothing) {
  const auto times = ends(2, options(), [](Rank& rank, Comm& world) {
    Data data(1000);
    if (rank.id() == 0) {
      world.send(1, data);
    } else {
      rank.clock().charge(Time(1ms), "compute");
      world.recv(0, data);
    }
  });
  EXPECT_EQ(times[0], GetParam().gpus_per_node != 1 ? Time(1us) : Time(10us));
  EXPECT_EQ(times[1], Time(1ms));
}

// All send at 0: the receive port of rank 0 takes one after the other, whoever came first.
TEST_P(ModelledTime, AGatherQueuesAtItsReceiver) {
  const auto times = ends(8, options(), [](Rank& rank, Comm& world) {
    Data data(1000);
    if (rank.id() != 0) {
      world.send(0, data);
      return;
    }
    for (int r = 1; r < world.size(); ++r) {
      world.recv(r, data);
    }
  });
  // In nodes of 3: ranks 1 and 2 by nvlink, then the other five on the port of ib.
  const std::vector<Time> expected{1us + 7 * 1us, 5us + 7 * 10us, 5us + 5 * 10us};
  EXPECT_EQ(times[0], expected[static_cast<std::size_t>(GetParam().one_node()           ? 0
                                                        : GetParam().gpus_per_node == 1 ? 1
                                                                                        : 2)]);
}

TEST_P(ModelledTime, OneSenderQueuesAtItsOwnPort) {
  const auto times = ends(4, options(), [](Rank& rank, Comm& world) {
    Data data(1000);
    if (rank.id() != 0) {
      return world.recv(0, data);
    }
    std::vector<Request> sending;
    for (int r = 1; r < 4; ++r) {
      sending.push_back(world.isend(r, data));
    }
    EXPECT_EQ(rank.now(), Time(0)) << "a launch takes no time of the program";
    for (auto& request : sending) {
      request.wait();
    }
  });
  if (GetParam().one_node()) {
    EXPECT_EQ(times, (std::vector<Time>{3us, 2us, 3us, 4us}));
  } else if (GetParam().gpus_per_node == 1) {
    EXPECT_EQ(times, (std::vector<Time>{30us, 15us, 25us, 35us}));
  } else {  // rank 3 is in another node: another port
    EXPECT_EQ(times, (std::vector<Time>{10us, 2us, 3us, 15us}));
  }
}

TEST_P(ModelledTime, BothDirectionsGoAtOnce) {
  const auto times = ends(2, options(), [](Rank& rank, Comm& world) {
    Data out(1000);
    Data in(1000);
    world.send_recv(1 - rank.id(), out, 1 - rank.id(), in);
  });
  const Time once = GetParam().gpus_per_node != 1 ? Time(2us) : Time(15us);
  EXPECT_EQ(times, (std::vector<Time>{once, once}));
}

// 100 us of transfers wait on one group (1000 us between nodes); a message of another group shares
// the link at once, and takes 2 us of it instead of 1 (20 instead of 10). Its price is paid in the
// end: the receiver has everything after 101 us of link time (1010) and the latency.
TEST_P(ModelledTime, ASmallMessageIsNotStalledBehindABacklog) {
  const bool nvlink = GetParam().gpus_per_node != 1;
  const auto times = ends(2, options(), [&](Rank& rank, Comm& world) {
    Comm bulk(rank, "bulk", {0, 1});
    std::vector<Data> large(10, Data(10'000));
    Data small(1000);
    if (rank.id() == 1) {
      world.recv(0, small);
      EXPECT_EQ(rank.now(), nvlink ? Time(3us) : Time(25us));
      for (auto& data : large) {
        bulk.recv(0, data);
      }
      return;
    }
    std::vector<Request> sending;
    for (auto& data : large) {
      sending.push_back(bulk.isend(1, data));
    }
    world.send(1, small);
    EXPECT_EQ(rank.now(), nvlink ? Time(2us) : Time(20us));
    for (auto& request : sending) {
      request.wait();
    }
    EXPECT_EQ(rank.now(), nvlink ? Time(100us) : Time(1000us)) << "what was booked before";
  });
  EXPECT_EQ(times[1], nvlink ? Time(102us) : Time(1015us));
}

TEST_P(ModelledTime, DurationsAreRoundedUpOnceAMessage) {
  JobOptions odd = options();
  odd.cluster.nvlink = odd.cluster.ib = {Rate{160'000'000'000}, Time(0)};  // a byte in 6.25 ps
  const auto times = ends(2, odd, [](Rank& rank, Comm& world) {
    for (const std::size_t bytes : {1UL, 2UL, 4UL, 5UL}) {  // 7, 13, 25, 32 ps
      Data data(bytes);
      rank.id() == 0 ? world.send(1, data) : world.recv(0, data);
    }
  });
  EXPECT_EQ(times, (std::vector<Time>{Time(77), Time(77)}));
}

TEST_P(ModelledTime, LinksMayBeIdeal) {
  JobOptions ideal = options();
  ideal.cluster.nvlink = ideal.cluster.ib = {Rate{}, Time(0)};
  const auto times = ends(2, ideal, [](Rank& rank, Comm& world) {
    Data data(100'000);
    rank.id() == 0 ? world.send(1, data) : world.recv(0, data);
  });
  EXPECT_EQ(times, (std::vector<Time>{Time(0), Time(0)}));
}

// A lower bound that no machine can break; how close it is, bench/ measures.
TEST_P(ModelledTime, ThePaceHoldsTheWallClockBack) {
  JobOptions paced = options();
  paced.pace = 0.5;
  const auto result = run_job_tested(2, paced, [](Rank& rank) {
    rank.clock().charge(Time(20ms), "compute");
    Data data(10'000'000);  // another 10 ms, or 100
    rank.id() == 0 ? rank.world().send(1, data) : rank.world().recv(0, data);
  });
  ASSERT_TRUE(result.ok()) << result.describe();
  for (const auto& rank : result.ranks) {
    EXPECT_GE(rank.report.modelled, Time(30ms));
    EXPECT_GE(Time(std::chrono::nanoseconds(rank.report.wall_ns)), rank.report.modelled / 2);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ModelledTime, testing::ValuesIn(job_shapes()), shape_name);

}  // namespace
}  // namespace ringside
