// Groups: nodes that do not divide the ranks, and groups of which each has to make its own choice.
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "collectives/algorithm.hpp"
#include "collectives/all_gather.hpp"
#include "collectives/all_reduce.hpp"
#include "collectives/all_to_all.hpp"
#include "tests/support/job_shapes.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {
namespace {

using Numbers = std::vector<std::int32_t>;

Buffer buffer(Numbers& numbers) {
  return buffer_of(std::span(numbers));
}

// 8 ranks are 3 + 3 + 2, and 10 ranks 4 + 4 + 2.
class CaseA4 : public ShapedTest {
 protected:
  template <class Fn>
  void on_uneven_nodes(Fn fn) const {
    for (const auto& [ranks, node] : {std::pair{8, 3}, {10, 4}}) {
      JobOptions options = GetParam().options();
      options.cluster.gpus_per_node = node;
      run_ranks_tested(ranks, options, fn);
    }
  }
};

TEST_P(CaseA4, AllGatherGivesTheRanksInOrder) {
  on_uneven_nodes([](Rank& rank) {
    Numbers expected(static_cast<std::size_t>(rank.size()));
    std::iota(expected.begin(), expected.end(), 0);
    for (const std::string_view name : {"hierarchical", "bruck", "auto"}) {
      Numbers mine{rank.id()};
      Numbers all(expected.size(), -1);
      all_gather(rank.world(), buffer(mine), buffer(all), {name});
      EXPECT_EQ(all, expected) << name;
    }
  });
}

TEST_P(CaseA4, AllReduceAndAllToAllToo) {
  on_uneven_nodes([](Rank& rank) {
    const int p = rank.size();
    for (const std::string_view name : {"hierarchical", "auto"}) {
      Numbers sum(13, rank.id());
      all_reduce(rank.world(), buffer(sum), ReduceOp::sum, {name});
      EXPECT_EQ(sum, Numbers(13, p * (p - 1) / 2)) << name;
      Numbers in(static_cast<std::size_t>(p));
      Numbers expected = in;
      for (int r = 0; r < p; ++r) {
        in[static_cast<std::size_t>(r)] = 100 * rank.id() + r;
        expected[static_cast<std::size_t>(r)] = 100 * r + rank.id();
      }
      Numbers out(in.size(), -1);
      all_to_all(rank.world(), buffer(in), buffer(out), {name});
      EXPECT_EQ(out, expected) << name;
    }
  });
}

class CaseA8 : public ShapedTest {};

constexpr std::size_t small = 1024;  // elements of 4 bytes: as much as "auto" calls small
constexpr std::size_t large = small + 1;

void sums_in(Comm& group, int expected) {
  for (const std::size_t count : {small, large, small}) {
    Numbers data(count, 1 << group.owner().id());
    all_reduce(group, buffer(data), ReduceOp::sum, {"auto"});
    EXPECT_EQ(data, Numbers(count, expected)) << group.name() << " of " << count;
  }
}

// Group, sequence and the algorithm that its messages name; a call of two is listed as such.
using Calls = std::map<std::pair<std::string, std::uint64_t>, std::set<std::string>>;

Calls calls_of(const JobResult& result, std::size_t first, std::size_t last) {
  Calls calls;
  for (std::size_t r = first; r <= last; ++r) {
    for (const auto& record : result.ranks[r].report.records) {
      const auto& e = record.envelope;
      calls[{std::string(std::string_view(e.group_name)), e.signature.sequence}].insert(
          std::string(std::string_view(e.signature.algorithm)));
    }
  }
  return calls;
}

TEST_P(CaseA8, EveryGroupChoosesForItself) {
  for (const int node : {0, 2}) {
    JobOptions options = GetParam().options();
    options.cluster.gpus_per_node = node;
    options.log = LogLevel::full;
    const auto result = run_job_tested(4, options, [](Rank& rank) {
      const bool first = rank.id() < 2;
      Comm pair(rank, "pair", first ? std::vector<int>{0, 1} : std::vector<int>{2, 3});
      if (first) {
        sums_in(rank.world(), 15);
      }
      sums_in(pair, first ? 3 : 12);
      if (!first) {
        sums_in(rank.world(), 15);
      }
    });
    ASSERT_TRUE(result.ok()) << result.describe();
    const std::string world_small = node == 0 ? "one_shot" : "recursive_doubling";
    const std::string world_large = node == 0 ? "direct" : "hierarchical";
    const Calls expected{{{"pair", 0}, {"one_shot"}},   {{"pair", 1}, {"direct"}},
                         {{"pair", 2}, {"one_shot"}},   {{"world", 0}, {world_small}},
                         {{"world", 1}, {world_large}}, {{"world", 2}, {world_small}}};
    EXPECT_EQ(calls_of(result, 0, 1), expected);
    EXPECT_EQ(calls_of(result, 2, 3), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, CaseA4, testing::ValuesIn(one_node_shapes()), shape_name);
INSTANTIATE_TEST_SUITE_P(Shapes, CaseA8, testing::ValuesIn(one_node_shapes()), shape_name);

}  // namespace
}  // namespace ringside
