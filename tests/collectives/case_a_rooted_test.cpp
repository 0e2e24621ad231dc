// Rooted operations: any number of ranks, any root, counts that count, and the buffers of those who
// are not the root.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "collectives/all_reduce.hpp"
#include "collectives/broadcast.hpp"
#include "collectives/chunk.hpp"
#include "collectives/collectives.hpp"
#include "collectives/gather.hpp"
#include "collectives/reduce.hpp"
#include "collectives/scatter.hpp"
#include "tests/support/job_shapes.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {
namespace {

using Numbers = std::vector<std::int64_t>;

Buffer buffer(Numbers& numbers) {
  return buffer_of(std::span(numbers));
}

// Different on every rank and at every place; sums of it are exact.
Numbers numbers_of(int rank, std::size_t count) {
  Numbers numbers(count);
  for (std::size_t i = 0; i < count; ++i) {
    numbers[i] = static_cast<std::int64_t>(i * i + 1) * (100 + 7 * rank);
  }
  return numbers;
}

class CaseA3 : public ShapedTest {
 protected:
  // Calls fn(rank, count, root) in jobs of 3, 5, 6 and 7 ranks.
  template <class Fn>
  void on_every_root(Fn fn) const {
    for (const int p : {3, 5, 6, 7}) {
      run_ranks_tested(p, GetParam().options(), [p, &fn](Rank& rank) {
        for (const std::size_t count : {10UL, 1001UL}) {
          for (const int root : std::set<int>{0, p / 2, p - 1}) {
            fn(rank, count, root);
          }
        }
      });
    }
  }
};

TEST_P(CaseA3, EveryRankHoldsTheRootsExactData) {
  on_every_root([](Rank& rank, std::size_t count, int root) {
    for (const auto& row : broadcast_algorithms()) {
      Numbers data = numbers_of(rank.id(), count);
      broadcast(rank.world(), buffer(data), root, {row.name});
      ASSERT_EQ(data, numbers_of(root, count)) << row.name << " from root " << root;
    }
  });
}

TEST_P(CaseA3, AReduceToAnyRootEqualsTheRing) {
  on_every_root([](Rank& rank, std::size_t count, int root) {
    Numbers ring = numbers_of(rank.id(), count);
    all_reduce(rank.world(), buffer(ring));
    for (const auto& row : reduce_algorithms()) {
      Numbers data = numbers_of(rank.id(), count);
      reduce(rank.world(), buffer(data), ReduceOp::sum, root, {row.name});
      ASSERT_EQ(data, rank.id() == root ? ring : numbers_of(rank.id(), count))
          << row.name << " to root " << root;
    }
  });
}

TEST_P(CaseA3, HalvingAndDoublingEqualTheRing) {
  on_every_root([](Rank& rank, std::size_t count, int) {
    Numbers ring = numbers_of(rank.id(), count);
    all_reduce(rank.world(), buffer(ring));
    for (const auto& row : all_reduce_algorithms()) {
      Numbers data = numbers_of(rank.id(), count);
      all_reduce(rank.world(), buffer(data), ReduceOp::sum, {row.name});
      ASSERT_EQ(data, ring) << row.name;
    }
  });
}

TEST_P(CaseA3, GatherBringsAllToTheRootAndScatterTakesThemBack) {
  on_every_root([](Rank& rank, std::size_t count, int root) {
    const int p = rank.size();
    Numbers data = numbers_of(rank.id(), count);
    gather(rank.world(), buffer(data), root);
    Numbers gathered = numbers_of(rank.id(), count);
    for (int r = 0; r < p && rank.id() == root; ++r) {
      const Chunk c = chunk_of(count, p, r);
      const Numbers theirs = numbers_of(r, count);
      std::copy_n(theirs.begin() + static_cast<std::ptrdiff_t>(c.first), c.count,
                  gathered.begin() + static_cast<std::ptrdiff_t>(c.first));
    }
    ASSERT_EQ(data, gathered) << "gather to root " << root;
    scatter(rank.world(), buffer(data), root);
    ASSERT_EQ(data, gathered) << "every rank gets what it gave";
  });
}

// Which arguments count on which rank is the same everywhere: all name the whole count.
class CaseA5 : public testing::TestWithParam<JobShape> {};

JobOptions of_limit(const JobShape& shape) {
  JobOptions options = shape.options();
  options.limit = std::chrono::seconds(10);
  return options;
}

TEST_P(CaseA5, ScatterOf1000DoublesARank) {
  run_ranks_tested(6, of_limit(GetParam()), [](Rank& rank) {
    std::vector<double> data(6000, -1);
    for (std::size_t i = 0; i < 6000 && rank.id() == 2; ++i) {
      data[i] = static_cast<double>(i);
    }
    scatter(rank.world(), buffer_of(std::span(data)), 2);
    for (std::size_t i = 0; i < 6000; ++i) {
      const bool mine = i / 1000 == static_cast<std::size_t>(rank.id()) || rank.id() == 2;
      ASSERT_EQ(data[i], mine ? static_cast<double>(i) : -1);
    }
  });
}

TEST_P(CaseA5, ACountOfZeroOnOtherRanksIsRefusedTheSameWay) {
  for (const std::string operation : {"scatter", "gather", "broadcast", "reduce"}) {
    for (const auto& row : operation_rows()) {
      if (row.operation != operation) {
        continue;
      }
      const auto result = run_job_tested(6, of_limit(GetParam()), [&row](Rank& rank) {
        std::vector<double> data(rank.id() == 0 ? 6000 : 0);
        run_operation(rank.world(), row.operation, row.algorithm, buffer_of(std::span(data)), {},
                      row.reduces ? ReduceOp::sum : ReduceOp::none, 0);
        run_operation(rank.world(), "barrier", "dissemination", {}, {}, ReduceOp::none, 0);
      });
      ASSERT_FALSE(result.ok()) << operation;
      const auto& cause = result.ranks[static_cast<std::size_t>(result.cause)];
      EXPECT_EQ(cause.type, "Desync") << cause.text;
      EXPECT_NE(cause.text.find(" of 6000 f64"), std::string::npos) << cause.text;
      EXPECT_NE(cause.text.find(" of 0 f64"), std::string::npos) << cause.text;
      for (const auto& rank : result.ranks) {
        EXPECT_NE(rank.ending, Ending::returned) << result.describe();
      }
    }
  }
}

class CaseA9 : public ShapedTest {};

TEST_P(CaseA9, AReduceLeavesTheDataOfTheOthersAsItWas) {
  run_ranks_tested(4, GetParam().options(), [](Rank& rank) {
    for (const std::string_view name : {"linear", "binomial_tree", "auto"}) {
      for (const int root : {0, 2}) {
        Numbers ones(5, 1);
        reduce(rank.world(), buffer(ones), ReduceOp::sum, root, {name});
        EXPECT_EQ(ones, Numbers(5, rank.id() == root ? 4 : 1)) << name;
      }
    }
  });
}

// Averages of f16 are computed in a wider copy: that one may change.
TEST_P(CaseA9, AnAverageLeavesTheDataOfTheOthersAsItWas) {
  run_ranks_tested(4, GetParam().options(), [](Rank& rank) {
    for (const std::string_view name : {"linear", "binomial_tree"}) {
      std::vector<F16> data(3, F16(60000));
      reduce(rank.world(), buffer_of(std::span(data)), ReduceOp::avg, 0, {name});
      EXPECT_EQ(data, std::vector<F16>(3, F16(60000)));
      std::vector<Bf16> ranks(3, Bf16(static_cast<float>(rank.id())));
      const auto before = ranks;
      reduce(rank.world(), buffer_of(std::span(ranks)), ReduceOp::avg, 0, {name});
      EXPECT_EQ(ranks, rank.id() == 0 ? std::vector<Bf16>(3, Bf16(1.5F)) : before);
    }
  });
}

// 3 nodes of 2, a node each, one node, and uneven ones.
std::vector<JobShape> topologies() {
  return {{.name = "NodesOf2", .gpus_per_node = 2},
          {.name = "NodesOf2Eager0", .eager_limit = 0, .gpus_per_node = 2},
          {.name = "NodesOf2Threads", .as = Ranks::threads, .gpus_per_node = 2},
          {.name = "NodesOf1", .gpus_per_node = 1},
          {.name = "NodesOf4", .gpus_per_node = 4},
          {.name = "OneNode"},
          {.name = "OneNodeEager0", .eager_limit = 0}};
}

INSTANTIATE_TEST_SUITE_P(Shapes, CaseA3, testing::ValuesIn(job_shapes()), shape_name);
INSTANTIATE_TEST_SUITE_P(Shapes, CaseA5, testing::ValuesIn(topologies()), shape_name);
INSTANTIATE_TEST_SUITE_P(Shapes, CaseA9, testing::ValuesIn(job_shapes()), shape_name);

}  // namespace
}  // namespace ringside
