// Numerics of reductions: NaN, averages, and where sums of 16-bit types are rounded.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "collectives/all_reduce.hpp"
#include "collectives/chunk.hpp"
#include "collectives/collectives.hpp"
#include "collectives/reduce_scatter.hpp"
#include "tests/support/job_shapes.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {
namespace {

// The elements of a row's result that are stated on this rank.
template <class T>
std::span<T> stated(const OperationRow& row, Comm& comm, std::vector<T>& data) {
  if (row.operation == "reduce_scatter") {
    const Chunk mine = chunk_of(data.size(), comm.size(), comm.rank());
    return std::span(data).subspan(mine.first, mine.count);
  }
  return row.rooted && comm.rank() != 0 ? std::span<T>() : std::span(data);
}

// Runs every row that reduces on `input`, and gives each result that is stated to `judge`.
template <class T, class Judge>
void reduce_with_all(Comm& comm, const std::vector<T>& input, ReduceOp op, Judge judge) {
  for (const auto& row : operation_rows()) {
    if (row.reduces) {
      auto data = input;
      run_operation(comm, row.operation, row.algorithm, buffer_of(std::span(data)), {}, op, 0);
      judge(row, stated(row, comm, data));
    }
  }
}

// ---- C1: NaN propagates -------------------------------------------------------------------------

class CaseC1 : public ShapedTest {};

// Element k: the values 1, NaN, 3, 4 in the k-th of their 24 orders on the ranks; then one without.
template <class T>
std::vector<T> placements(int rank) {
  std::array<int, 4> order{0, 1, 2, 3};
  const std::array<float, 4> values{1, std::numeric_limits<float>::quiet_NaN(), 3, 4};
  std::vector<T> data;
  do {
    data.push_back(T(values[static_cast<std::size_t>(order[static_cast<std::size_t>(rank)])]));
  } while (std::next_permutation(order.begin(), order.end()));
  data.push_back(T(static_cast<float>(rank + 1)));
  return data;
}

template <class T>
void expect_nan_to_propagate(Comm& comm, ReduceOp op) {
  const auto input = placements<T>(comm.rank());
  const float last = op == ReduceOp::min ? 1 : 4;
  const auto judge = [&](std::string_view name, std::size_t first, std::span<const T> result) {
    for (std::size_t i = 0; i < result.size(); ++i) {
      const auto value = static_cast<float>(result[i]);
      ASSERT_TRUE(first + i == 24 ? value == last : std::isnan(value))
          << name << " " << name_of(op) << " of " << name_of(dtype_of<T>()) << ", placement "
          << first + i << ": " << value;
    }
  };
  reduce_with_all(comm, input, op, [&](const OperationRow& row, std::span<T> result) {
    const bool part = row.operation == "reduce_scatter";
    judge(row.algorithm, part ? chunk_of(25, 4, comm.rank()).first : 0, result);
  });
  for (const auto& row : reduce_scatter_algorithms()) {
    auto data = input;
    std::vector<T> mine(chunk_of(25, 4, comm.rank()).count);
    reduce_scatter(comm, buffer_of(std::span(data)), buffer_of(std::span(mine)), op, {row.name});
    judge("out of place", chunk_of(25, 4, comm.rank()).first, mine);
  }
}

TEST_P(CaseC1, MinAndMaxAreNanWhereverTheNanIs) {
  run_ranks_tested(4, GetParam().options(), [](Rank& rank) {
    for (const auto op : {ReduceOp::min, ReduceOp::max}) {
      expect_nan_to_propagate<float>(rank.world(), op);
      expect_nan_to_propagate<double>(rank.world(), op);
      expect_nan_to_propagate<Bf16>(rank.world(), op);
      expect_nan_to_propagate<F16>(rank.world(), op);
    }
  });
}

// ---- C2: the divisor is the size of the group ---------------------------------------------------

class CaseC2 : public ShapedTest {};

template <class T>
void expect_averages(Comm& comm, float mine, T expected) {
  reduce_with_all(comm, std::vector<T>(3, T(mine)), ReduceOp::avg,
                  [&](const OperationRow& row, std::span<T> result) {
                    for (const T& value : result) {
                      ASSERT_EQ(value, expected) << row.operation << " " << row.algorithm << " of "
                                                 << name_of(dtype_of<T>());
                    }
                  });
}

TEST_P(CaseC2, OfThreeElementsOnFourRanks) {
  run_ranks_tested(4, GetParam().options(), [](Rank& rank) {
    const auto mine = static_cast<float>(rank.id() + 1);
    expect_averages<float>(rank.world(), mine, 2.5F);
    expect_averages<double>(rank.world(), mine, 2.5);
    expect_averages<Bf16>(rank.world(), mine, Bf16(2.5F));
    expect_averages<F16>(rank.world(), mine, F16(2.5F));
    expect_averages<std::int32_t>(rank.world(), mine, 2);  // toward zero
    expect_averages<std::int32_t>(rank.world(), -mine, -2);
    const int pair = rank.id() / 2;
    Comm half(rank, "half", {2 * pair, 2 * pair + 1});
    expect_averages<float>(half, mine, pair == 0 ? 1.5F : 3.5F);
    expect_averages<F16>(half, mine, F16(pair == 0 ? 1.5F : 3.5F));
  });
}

// ---- C3: one rounding a hop, or one in all ------------------------------------------------------

class CaseC3 : public ShapedTest {};

// Rank 0 gives 256, the others 1; nine chunks of one element.
std::vector<Bf16> one_large(int rank) {
  return std::vector<Bf16>(9, Bf16(rank == 0 ? 256.0F : 1.0F));
}

// Ranks first, first + 1, … are added in turn, rounded to bf16 after each addition.
Bf16 rounded_every_hop(int first) {
  Bf16 sum = one_large(first)[0];
  for (int k = 1; k < 9; ++k) {
    sum = Bf16(static_cast<float>(sum) + static_cast<float>(one_large((first + k) % 9)[0]));
  }
  return sum;
}

Bf16 expected_sum(std::string_view algorithm, int chunk) {
  if (algorithm == "ring") {
    return rounded_every_hop((chunk + 1) % 9);
  }
  return algorithm == "naive" ? rounded_every_hop(0) : Bf16(264);
}

TEST(CaseC3Oracle, OfARingGivesThreeDifferentSums) {
  const std::vector<float> sums{264, 264, 264, 260, 260, 260, 260, 256, 256};
  for (int c = 0; c < 9; ++c) {
    EXPECT_EQ(static_cast<float>(expected_sum("ring", c)), sums[static_cast<std::size_t>(c)]) << c;
  }
}

TEST_P(CaseC3, RingsRoundEveryHopAndDirectSumsOnce) {
  JobOptions options = GetParam().options();
  options.log = LogLevel::full;
  const auto result = run_job_tested(9, options, [](Rank& rank) {
    for (const std::string_view name : {"naive", "ring", "one_shot", "direct"}) {
      auto data = one_large(rank.id());
      all_reduce(rank.world(), buffer_of(std::span(data)), ReduceOp::sum, {name});
      for (int c = 0; c < 9; ++c) {
        EXPECT_EQ(data[static_cast<std::size_t>(c)], expected_sum(name, c)) << name << " " << c;
      }
    }
    for (const std::string_view name : {"ring", "direct"}) {
      auto data = one_large(rank.id());
      reduce_scatter(rank.world(), buffer_of(std::span(data)), ReduceOp::sum, {name});
      EXPECT_EQ(data[static_cast<std::size_t>(rank.id())], expected_sum(name, rank.id())) << name;
    }
  });
  ASSERT_TRUE(result.ok()) << result.describe();
  const auto& logged = result.ranks[0].report.records;
  EXPECT_TRUE(std::all_of(logged.begin(), logged.end(), [](const TrafficRecord& record) {
    const auto& signature = record.envelope.signature;
    return signature.dtype == DType::bf16 && !std::string_view(signature.algorithm).empty();
  })) << "which rounding a sum has follows from its type and algorithm: both are in the log";
}

// ---- C5: an average of f16 overflows nowhere ----------------------------------------------------

class CaseC5 : public ShapedTest {};

TEST_P(CaseC5, LargeAndSmallAveragesAreExact) {
  run_ranks_tested(8, GetParam().options(), [](Rank& rank) {
    expect_averages<F16>(rank.world(), 20000, F16(20000));
    expect_averages<F16>(rank.world(), 0x1p-24F, F16(0x1p-24F));
    expect_averages<Bf16>(rank.world(), 0x1p+120F, Bf16(0x1p+120F));
  });
}

// The control: their sum does overflow.
TEST_P(CaseC5, ASumOverflows) {
  run_ranks_tested(8, GetParam().options(), [](Rank& rank) {
    reduce_with_all(rank.world(), std::vector<F16>(3, F16(20000)), ReduceOp::sum,
                    [](const OperationRow& row, std::span<F16> result) {
                      for (const F16& value : result) {
                        ASSERT_EQ(value, F16(INFINITY)) << row.operation << " " << row.algorithm;
                      }
                    });
  });
}

INSTANTIATE_TEST_SUITE_P(Shapes, CaseC1, testing::ValuesIn(job_shapes()), shape_name);
INSTANTIATE_TEST_SUITE_P(Shapes, CaseC2, testing::ValuesIn(job_shapes()), shape_name);
INSTANTIATE_TEST_SUITE_P(Shapes, CaseC3, testing::ValuesIn(job_shapes()), shape_name);
INSTANTIATE_TEST_SUITE_P(Shapes, CaseC5, testing::ValuesIn(job_shapes()), shape_name);

}  // namespace
}  // namespace ringside
