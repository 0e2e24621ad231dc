// The same bits on every rank, whatever the numbers; and the order of additions that they show.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "collectives/all_gather.hpp"
#include "collectives/all_reduce.hpp"
#include "collectives/chunk.hpp"
#include "collectives/collectives.hpp"
#include "collectives/reduce.hpp"
#include "collectives/reduce_scatter.hpp"
#include "tests/support/job_shapes.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {
namespace {

// A number of either sign between 1e-8 and 1e8, every magnitude as likely.
class MixedMagnitudes {
 public:
  explicit MixedMagnitudes(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15U + 1) {}

  float next() {
    const double exponent = uniform() * 16 - 8;
    return static_cast<float>((uniform() < 0.5 ? -1 : 1) * std::pow(10.0, exponent));
  }

 private:
  double uniform() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>(state_ >> 11) / 9007199254740992.0;
  }

  std::uint64_t state_;
};

std::uint64_t hash(Buffer data) {
  std::uint64_t value = 14695981039346656037U;
  for (std::size_t i = 0; i < data.bytes(); ++i) {
    value = (value ^ static_cast<std::uint64_t>(data.data[i])) * 1099511628211U;
  }
  return value;
}

// What every member of the group must hold alike after a row has run on `data`; the parts of a
// reduce-scatter are put together first.
template <class T>
std::uint64_t bits_after(Comm& comm, const OperationRow& row, std::vector<T> data) {
  const Buffer all = buffer_of(std::span(data));
  const auto op = row.reduces ? ReduceOp::sum : ReduceOp::none;
  run_operation(comm, row.operation, row.algorithm, all, {}, op, 0);
  if (row.operation == "reduce_scatter") {
    all_gather(comm, all);
  }
  return hash(all);
}

constexpr std::uint64_t seeds_at_once = 5;

// Of 21 numbers from each of a few seeds: shared unevenly by most groups.
template <class T>
void append_bits(Comm& comm, std::uint64_t first_seed, std::vector<std::uint64_t>& hashes) {
  std::vector<T> data;
  for (std::uint64_t seed = first_seed; seed < first_seed + seeds_at_once; ++seed) {
    MixedMagnitudes numbers(100 * seed + static_cast<std::uint64_t>(comm.rank()));
    for (int i = 0; i < 21; ++i) {
      data.emplace_back(numbers.next());
    }
  }
  for (const auto& row : operation_rows()) {
    if (row.operation == "all_reduce" || row.operation == "reduce_scatter" ||
        row.operation == "all_gather" || row.operation == "broadcast") {
      hashes.push_back(bits_after(comm, row, data));
    }
  }
}

class CaseC6 : public ShapedTest {};

// A hundred seeds in one job; fewer where messages are dear.
TEST_P(CaseC6, AllRanksHoldTheSameBits) {
  const std::uint64_t seeds = GetParam().one_node() ? 100 : 20;
  JobOptions options = GetParam().options();
  options.limit = std::chrono::seconds(60);
  for (int p = 2; p <= 9; ++p) {
    const auto of_rank = run_ranks_tested(p, options, [&](Rank& rank) {
      std::vector<std::uint64_t> hashes;
      for (std::uint64_t seed = 0; seed < seeds; seed += seeds_at_once) {
        append_bits<float>(rank.world(), seed, hashes);
        append_bits<Bf16>(rank.world(), seed, hashes);
      }
      return hashes;
    });
    ASSERT_FALSE(of_rank[0].empty());
    for (std::size_t r = 1; r < of_rank.size(); ++r) {
      ASSERT_EQ(of_rank[r], of_rank[0]) << "rank " << r << " of " << p;
    }
  }
}

// Two different NaNs: which of them is left is the same on all ranks too.
TEST_P(CaseC6, AlsoOfNansThatDiffer) {
  for (const int p : {2, 3, 5, 8}) {
    const auto of_rank = run_ranks_tested(p, GetParam().options(), [](Rank& rank) {
      const auto nan = std::bit_cast<float>(0x7FC00001U + static_cast<std::uint32_t>(rank.id()));
      std::vector<std::uint64_t> hashes;
      for (const auto& row : all_reduce_algorithms()) {
        for (const auto op : {ReduceOp::sum, ReduceOp::prod, ReduceOp::min, ReduceOp::max}) {
          std::vector<float> data(21, nan);
          all_reduce(rank.world(), buffer_of(std::span(data)), op, {row.name});
          hashes.push_back(hash(buffer_of(std::span(data))));
        }
      }
      return hashes;
    });
    for (std::size_t r = 1; r < of_rank.size(); ++r) {
      EXPECT_EQ(of_rank[r], of_rank[0]) << "rank " << r << " of " << p;
    }
  }
}

// ---- C7: cancellation shows the order of additions ----------------------------------------------

class CaseC7 : public ShapedTest {};

using Floats = std::vector<float>;

Floats cancelling(int rank) {
  const Floats values{1e8F, 1, -1e8F, 1};  // the exact sum is 2
  return Floats(4, values[static_cast<std::size_t>(rank)]);
}

TEST_P(CaseC7, AllReduceAddsInTheDocumentedOrder) {
  run_ranks_tested(4, GetParam().options(), [](Rank& rank) {
    const std::map<std::string_view, Floats> expected{
        {"ring", {0, 1, 0, 1}},          // chunk c starts at rank c + 1
        {"hierarchical", {0, 1, 0, 1}},  // in one node, the ring
        {"naive", {1, 1, 1, 1}},         // ((0 + 1) + 2) + 3
        {"one_shot", {1, 1, 1, 1}},
        {"direct", {1, 1, 1, 1}},
        {"recursive_doubling", {0, 0, 0, 0}},    // (0 + 1) + (2 + 3)
        {"rabenseifner", {2, 2, 2, 2}}};         // (0 + 2) + (1 + 3)
    for (const auto& [name, sums] : expected) {  // a row that is not here documents no order yet
      Floats data = cancelling(rank.id());
      all_reduce(rank.world(), buffer_of(std::span(data)), ReduceOp::sum, {name});
      EXPECT_EQ(data, sums) << name;
    }
  });
}

TEST_P(CaseC7, ReduceScatterAndReduceToo) {
  run_ranks_tested(4, GetParam().options(), [](Rank& rank) {
    const auto me = static_cast<std::size_t>(rank.id());
    for (const auto& [name, expected] :
         std::map<std::string_view, Floats>{{"ring", {0, 1, 0, 1}}, {"direct", {1, 1, 1, 1}}}) {
      Floats data = cancelling(rank.id());
      reduce_scatter(rank.world(), buffer_of(std::span(data)), ReduceOp::sum, {name});
      EXPECT_EQ(data[me], expected[me]) << name;
    }
    for (int root = 0; root < 4; ++root) {
      Floats linear = cancelling(rank.id());
      reduce(rank.world(), buffer_of(std::span(linear)), ReduceOp::sum, root, {"linear"});
      Floats tree = cancelling(rank.id());
      reduce(rank.world(), buffer_of(std::span(tree)), ReduceOp::sum, root, {"binomial_tree"});
      if (rank.id() == root) {
        EXPECT_EQ(linear[0], root % 2 == 0 ? 1.0F : 0.0F);  // from the root on
        EXPECT_EQ(tree[0], 0.0F);                           // neighbours first
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Shapes, CaseC6, testing::ValuesIn(job_shapes()), shape_name);
INSTANTIATE_TEST_SUITE_P(Shapes, CaseC7, testing::ValuesIn(one_node_shapes()), shape_name);

}  // namespace
}  // namespace ringside
