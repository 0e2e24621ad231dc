// Case M3 (order of dimensions): with equal links, 16 ranks as 2 nodes of 8 and as 8 nodes of 2
// cost the same in the hierarchical all-reduce; with a slow link between the nodes they do not.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "collectives/all_reduce.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t count = 16 * 1000;

struct Cost {
  std::int64_t sent = 0;
  std::int64_t sent_between_nodes = 0;
  Time took{0};

  bool operator==(const Cost&) const = default;
};

std::vector<Cost> costs(int gpus_per_node, const Link& nvlink, const Link& ib) {
  JobOptions options{.as = Ranks::threads};
  options.cluster.gpus_per_node = gpus_per_node;
  options.cluster.nvlink = nvlink;
  options.cluster.ib = ib;
  return run_ranks_tested(16, options, [](Rank& rank) {
    const Tensor data(rank.memory(), DType::f32, {count}, Category::buffers, "data");
    all_reduce(rank.world(), data.buffer(), ReduceOp::sum, {"hierarchical"});
    Cost cost{.took = rank.now()};
    for (const auto& sum : rank.traffic().sums()) {
      cost.sent += sum.sent_bytes;
      cost.sent_between_nodes += sum.link == LinkClass::ib ? sum.sent_bytes : 0;
    }
    return cost;
  });
}

TEST(CaseM3, EqualLinksCostTheSameInEitherOrder) {
  const std::int64_t bytes = 2 * static_cast<std::int64_t>(count * sizeof(float)) * 15 / 16;
  const Link step{Rate{}, 1us};  // a message takes 1 us, however long: time counts steps
  for (const int gpus_per_node : {8, 2}) {
    for (const Cost& cost : costs(gpus_per_node, step, step)) {
      EXPECT_EQ(cost.sent, bytes);
      EXPECT_EQ(cost.took, Time(16us));
    }
  }
  const Link link = Cluster{}.nvlink;
  const auto eights = costs(8, link, link);
  const auto twos = costs(2, link, link);
  for (std::size_t r = 0; r < eights.size(); ++r) {
    EXPECT_EQ(eights[r].took, twos[r].took) << "rank " << r;
  }
}

// The negative control: the order matters as soon as the links differ. S is the whole buffer: a
// rank sends 2 S/8 · 1/2 between 2 nodes, 2 S/2 · 7/8 between 8.
TEST(CaseM3, WithASlowLinkBetweenNodesFewerNodesSendLessOverIt) {
  const auto eights = costs(8, Cluster{}.nvlink, Cluster{}.ib);
  const auto twos = costs(2, Cluster{}.nvlink, Cluster{}.ib);
  const auto whole = static_cast<std::int64_t>(count * sizeof(float));
  for (std::size_t r = 0; r < eights.size(); ++r) {
    EXPECT_EQ(eights[r].sent, twos[r].sent);
    EXPECT_EQ(eights[r].sent_between_nodes, whole / 8);
    EXPECT_EQ(twos[r].sent_between_nodes, whole * 7 / 8);
    EXPECT_LT(eights[r].took, twos[r].took);
  }
}

}  // namespace
}  // namespace ringside
