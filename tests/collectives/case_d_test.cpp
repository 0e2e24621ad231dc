// A rank that leaves between a barrier and the first operation of a group that was made later.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <numeric>
#include <string>
#include <vector>

#include "collectives/all_reduce.hpp"
#include "collectives/barrier.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;

struct Departure {
  int leaver;
  bool connected;     // every rank has spoken to every other one before
  int gpus_per_node;  // 0: shared memory; 1: sockets
};

class CaseD1Group : public testing::TestWithParam<Departure> {};

void sum_over(Comm& group, std::string_view algorithm) {
  std::vector<float> data(4096, 1);
  all_reduce(group, buffer_of(std::span(data)), ReduceOp::sum, {algorithm});
}

TEST_P(CaseD1Group, ARankThatLeavesBeforeTheFirstAllReduceIsNamed) {
  const Departure departure = GetParam();
  JobOptions options;
  options.cluster.gpus_per_node = departure.gpus_per_node;
  options.limit = 2s;
  const auto start = std::chrono::steady_clock::now();
  const auto result = run_job(4, options, [&](Rank& rank) -> std::string {
    Comm group(rank, "group", {0, 1, 2, 3});
    if (departure.connected) {
      sum_over(rank.world(), "direct");
    }
    barrier(rank.world());
    if (rank.id() == departure.leaver) {
      _exit(86);
    }
    sum_over(group, "ring");
    return {};
  });
  EXPECT_LT(std::chrono::steady_clock::now() - start, 3s);
  const std::string text = result.describe();
  ASSERT_EQ(result.cause, departure.leaver) << text;
  for (int r = 0; r < 4; ++r) {
    const auto& rank = result.ranks[static_cast<std::size_t>(r)];
    EXPECT_NE(rank.ending, Ending::returned) << text;
    EXPECT_EQ(rank.code == 86, r == departure.leaver) << text;
  }
  const std::string cause = "rank " + std::to_string(departure.leaver) + " exited with code 86";
  EXPECT_NE(text.find(cause), std::string::npos) << text;
  EXPECT_THROW(result.raise(), PeerLost);
}

INSTANTIATE_TEST_SUITE_P(Ranks, CaseD1Group,
                         testing::Values(Departure{0, false, 0}, Departure{0, true, 0},
                                         Departure{3, false, 0}, Departure{3, true, 0},
                                         Departure{0, false, 1}, Departure{0, true, 1},
                                         Departure{3, false, 1}, Departure{3, true, 1}),
                         [](const auto& of) {
                           return "Rank" + std::to_string(of.param.leaver) +
                                  (of.param.connected ? "AllConnected" : "NotConnected") +
                                  (of.param.gpus_per_node == 0 ? "Memory" : "Sockets");
                         });

}  // namespace
}  // namespace ringside
