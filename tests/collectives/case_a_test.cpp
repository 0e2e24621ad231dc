// Sizes and buffers that broke other libraries: fewer elements than ranks, none at all, in place.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "collectives/all_gather.hpp"
#include "collectives/all_reduce.hpp"
#include "collectives/all_to_all.hpp"
#include "collectives/chunk.hpp"
#include "collectives/collectives.hpp"
#include "collectives/gather.hpp"
#include "collectives/reduce_scatter.hpp"
#include "tests/support/job_shapes.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {
namespace {

using Numbers = std::vector<std::int32_t>;

Buffer buffer(Numbers& numbers) {
  return buffer_of(std::span(numbers));
}

std::int64_t sent_by(Rank& rank) {
  std::int64_t bytes = 0;
  for (const auto& sum : rank.traffic().sums()) {
    bytes += sum.sent_bytes;
  }
  return bytes;
}

class CaseA1 : public ShapedTest {};

TEST_P(CaseA1, FewerElementsThanRanks) {
  for (int p = 2; p <= 9; ++p) {
    const auto sent = run_ranks_tested(p, GetParam().options(), [p](Rank& rank) {
      for (std::size_t count = 1; count <= static_cast<std::size_t>(p) + 1; ++count) {
        Numbers data(count, 1 << rank.id());
        all_reduce(rank.world(), buffer(data));
        EXPECT_EQ(data, Numbers(count, (1 << p) - 1));
      }
      return sent_by(rank);
    });
    const std::int64_t counts = (p + 1) * (p + 2) / 2;  // 1 + 2 + … + (p + 1)
    EXPECT_EQ(std::accumulate(sent.begin(), sent.end(), std::int64_t{0}), 2 * (p - 1) * counts * 4);
  }
}

TEST_P(CaseA1, OneElementOverFourRanksIs24Bytes) {
  const auto sent = run_ranks_tested(4, GetParam().options(), [](Rank& rank) {
    Numbers data{1 << rank.id()};
    all_reduce(rank.world(), buffer(data));
    EXPECT_EQ(data, Numbers{15});
    return sent_by(rank);
  });
  EXPECT_EQ(std::accumulate(sent.begin(), sent.end(), std::int64_t{0}), 24);
}

class CaseA2 : public ShapedTest {};

// The one thing that is sent: between nodes, how many elements of an unequal exchange will come;
// to two nodes, twice.
constexpr std::int64_t counts_of_unequal_parts = 2 * 2 * 8;

TEST_P(CaseA2, NoElementsAndNoMemory) {
  run_ranks_tested(3, GetParam().options(), [](Rank& rank) {
    const Buffer nothing{nullptr, 0, DType::i32};
    const Tensor empty(rank.memory(), DType::i32, {0}, Category::buffers, "empty");
    for (const Buffer& data : {nothing, empty.buffer()}) {
      for (const auto& row : operation_rows()) {
        run_operation(rank.world(), row.operation, row.algorithm, data, data, ReduceOp::sum, 1);
      }
      for (const auto& row : reduce_scatter_algorithms()) {
        reduce_scatter(rank.world(), data, data, ReduceOp::avg, {row.name});
      }
      for (const auto& row : all_gather_algorithms()) {
        all_gather(rank.world(), data, data, {row.name});
      }
      const std::vector<std::size_t> none(3, 0);
      for (const auto& row : all_to_all_algorithms()) {
        all_to_all_v(rank.world(), data, none, data, none, {row.name});
      }
    }
    for (const auto& row : all_reduce_algorithms()) {
      Work work = all_reduce_async(rank.world(), empty, ReduceOp::avg, {row.name});
      work.wait();
    }
    const bool apart = rank.cluster().gpus_per_node == 1;
    EXPECT_EQ(sent_by(rank), apart ? counts_of_unequal_parts : 0);
    Numbers one{rank.id() + 1};
    all_reduce(rank.world(), buffer(one));
    EXPECT_EQ(one[0], 6) << "the members are still in step";
  });
}

class CaseA6 : public ShapedTest {};

const Numbers all_in_order{0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32};

// Three elements at the place of this rank, and nothing elsewhere.
Numbers own_block(int rank) {
  Numbers data(12, -1);
  std::copy_n(all_in_order.begin() + 3 * rank, 3, data.begin() + 3 * rank);
  return data;
}

TEST_P(CaseA6, AllGatherInPlaceAndOutOfPlace) {
  run_ranks_tested(4, GetParam().options(), [](Rank& rank) {
    const int r = 10 * rank.id();
    Numbers mine{r, r + 1, r + 2};
    for (const auto& row : all_gather_algorithms()) {
      Numbers in_place = own_block(rank.id());
      Numbers out_of_place(12, -1);
      all_gather(rank.world(), buffer(in_place), {row.name});
      all_gather(rank.world(), buffer(mine), buffer(out_of_place), {row.name});
      EXPECT_EQ(in_place, all_in_order) << row.name;
      EXPECT_EQ(out_of_place, in_place) << row.name;
      EXPECT_EQ(mine, (Numbers{r, r + 1, r + 2})) << row.name;
    }
  });
}

TEST_P(CaseA6, GatherInPlace) {
  run_ranks_tested(4, GetParam().options(), [](Rank& rank) {
    for (const auto& row : gather_algorithms()) {
      for (const int root : {0, 3}) {
        Numbers data = own_block(rank.id());
        gather(rank.world(), buffer(data), root, {row.name});
        EXPECT_EQ(data, rank.id() == root ? all_in_order : own_block(rank.id())) << row.name;
      }
    }
  });
}

// Floats whose sum depends on the order of the additions: in place and out of place, the same bits.
TEST_P(CaseA6, ReduceScatterInPlaceAndOutOfPlace) {
  for (const std::size_t count : {12UL, 1001UL, 3UL}) {
    run_ranks_tested(4, GetParam().options(), [count](Rank& rank) {
      std::vector<float> data(count);
      for (std::size_t i = 0; i < count; ++i) {
        data[i] = 1.0F / static_cast<float>(3 + i * 7 + static_cast<std::size_t>(rank.id()) * 13);
      }
      const auto before = data;
      const Chunk part = chunk_of(count, 4, rank.id());
      std::vector<float> mine(part.count, -1);
      for (const auto& row : reduce_scatter_algorithms()) {
        for (const auto op : {ReduceOp::sum, ReduceOp::avg, ReduceOp::max}) {
          data = before;
          const Buffer whole = buffer_of(std::span(data));
          reduce_scatter(rank.world(), whole, buffer_of(std::span(mine)), op, {row.name});
          EXPECT_EQ(data, before) << "out of place leaves the input as it is";
          reduce_scatter(rank.world(), whole, op, {row.name});
          for (std::size_t i = 0; i < part.count; ++i) {
            ASSERT_EQ(mine[i], data[part.first + i]) << row.name << " " << name_of(op) << " " << i;
          }
        }
      }
    });
  }
}

TEST_P(CaseA6, ABlockOfAnotherSizeIsRefused) {
  const auto result = run_job_tested(2, GetParam().options(), [](Rank& rank) {
    Numbers mine(3);
    Numbers all(4);
    all_gather(rank.world(), buffer(mine), buffer(all));
  });
  ASSERT_FALSE(result.ok());
  const std::string text = result.describe();
  EXPECT_NE(text.find("cannot copy 3 elements of i32 to 2 of i32"), std::string::npos) << text;
}

INSTANTIATE_TEST_SUITE_P(Shapes, CaseA1, testing::ValuesIn(job_shapes()), shape_name);
INSTANTIATE_TEST_SUITE_P(Shapes, CaseA2, testing::ValuesIn(job_shapes()), shape_name);
INSTANTIATE_TEST_SUITE_P(Shapes, CaseA6, testing::ValuesIn(job_shapes()), shape_name);

}  // namespace
}  // namespace ringside
