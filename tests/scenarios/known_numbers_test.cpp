// The check itself: right results pass, and each planted fault is counted exactly.
#include "scenarios/known_numbers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "collectives/chunk.hpp"

namespace ringside {
namespace {

using Values = std::vector<std::int64_t>;

KnownCall call_of(std::string_view operation, ReduceOp op = ReduceOp::none) {
  return {
      .operation = operation, .count = 24, .dtype = DType::i64, .op = op, .root = 2, .ranks = 4};
}

// Both buffers of a rank, filled with its input.
struct Held {
  Held(const KnownCall& call, Placement placement, int rank)
      : data(call.count),
        other(other_count(convention_of(call.operation), call.ranks, call.count)) {
    fill_known(call, placement, rank, buffers());
  }

  CallBuffers buffers() { return {buffer_of(std::span(data)), buffer_of(std::span(other))}; }

  Values data, other;
};

std::vector<Held> everyone(const KnownCall& call, Placement placement = Placement::in_place) {
  std::vector<Held> ranks;
  for (int r = 0; r < call.ranks; ++r) {
    ranks.emplace_back(call, placement, r);
  }
  return ranks;
}

std::size_t wrong(const KnownCall& call, Placement placement, std::vector<Held>& ranks) {
  std::size_t all = 0;
  for (int r = 0; r < call.ranks; ++r) {
    all += wrong_elements(call, placement, r, ranks[static_cast<std::size_t>(r)].buffers());
  }
  return all;
}

// The sum, by hand, without the rank `left_out`.
Values sum_without(const std::vector<Held>& ranks, int left_out = -1) {
  Values sum(ranks.front().data.size());
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    if (static_cast<int>(r) != left_out) {
      std::transform(sum.begin(), sum.end(), ranks[r].data.begin(), sum.begin(), std::plus<>());
    }
  }
  return sum;
}

TEST(KnownNumbers, ASumPassesAndEveryPlantedFaultIsCounted) {
  const auto call = call_of("all_reduce", ReduceOp::sum);
  auto ranks = everyone(call);
  EXPECT_GT(wrong(call, Placement::in_place, ranks), 80U) << "inputs are no results";
  const auto inputs = ranks;
  for (auto& rank : ranks) {
    rank.data = sum_without(inputs);
  }
  EXPECT_EQ(wrong(call, Placement::in_place, ranks), 0U);
  ranks[1].data[5] += 1;
  EXPECT_EQ(wrong(call, Placement::in_place, ranks), 1U);
  ranks[1].data[23] = 0;
  ranks[3].data[0] -= 1;
  EXPECT_GE(wrong(call, Placement::in_place, ranks), 2U);
  for (int lost = 0; lost < 4; ++lost) {  // no input is 0: a lost contribution shows everywhere
    ranks[2].data = sum_without(inputs, lost);
    EXPECT_EQ(wrong_elements(call, Placement::in_place, 2, ranks[2].buffers()), 24U);
  }
}

TEST(KnownNumbers, EveryReductionIsItsDefinition) {
  const std::vector<std::pair<ReduceOp, std::int64_t (*)(std::int64_t, std::int64_t)>> by_hand{
      {ReduceOp::prod, [](std::int64_t a, std::int64_t b) { return a * b; }},
      {ReduceOp::min, [](std::int64_t a, std::int64_t b) { return std::min(a, b); }},
      {ReduceOp::max, [](std::int64_t a, std::int64_t b) { return std::max(a, b); }}};
  for (const auto& [op, combine] : by_hand) {
    const auto call = call_of("all_reduce", op);
    auto ranks = everyone(call);
    Values result = ranks[0].data;
    for (std::size_t r = 1; r < 4; ++r) {
      std::transform(result.begin(), result.end(), ranks[r].data.begin(), result.begin(), combine);
    }
    ranks[0].data = result;
    EXPECT_EQ(wrong_elements(call, Placement::in_place, 0, ranks[0].buffers()), 0U) << name_of(op);
    ranks[0].data[7] += 1;
    EXPECT_EQ(wrong_elements(call, Placement::in_place, 0, ranks[0].buffers()), 1U) << name_of(op);
  }
}

TEST(KnownNumbers, MovesArePlacedByTheirDefinition) {
  const auto call = call_of("all_to_all");
  auto ranks = everyone(call, Placement::out_of_place);
  EXPECT_EQ(wrong(call, Placement::out_of_place, ranks), 24U * 4);
  for (int to = 0; to < 4; ++to) {
    for (int from = 0; from < 4; ++from) {
      const auto& in = ranks[static_cast<std::size_t>(from)].data;
      auto& out = ranks[static_cast<std::size_t>(to)].other;
      std::copy_n(in.begin() + to * 6, 6, out.begin() + from * 6);
    }
  }
  EXPECT_EQ(wrong(call, Placement::out_of_place, ranks), 0U);
  std::rotate(ranks[3].other.begin(), ranks[3].other.begin() + 1, ranks[3].other.end());
  EXPECT_GT(wrong(call, Placement::out_of_place, ranks), 20U) << "off by one element";
}

TEST(KnownNumbers, ARootedResultIsTheRoots) {
  const auto call = call_of("broadcast");
  auto ranks = everyone(call);
  EXPECT_EQ(wrong(call, Placement::in_place, ranks), 24U * 3);
  for (auto& rank : ranks) {
    rank.data = ranks[2].data;
  }
  EXPECT_EQ(wrong(call, Placement::in_place, ranks), 0U);
}

TEST(KnownNumbers, OutOfPlaceOnlyTheOtherBufferIsJudged) {
  const auto call = call_of("reduce_scatter", ReduceOp::sum);
  auto ranks = everyone(call, Placement::out_of_place);
  const auto sum = sum_without(ranks);
  for (std::size_t r = 0; r < 4; ++r) {
    std::copy_n(sum.begin() + static_cast<std::ptrdiff_t>(r * 6), 6, ranks[r].other.begin());
  }
  EXPECT_EQ(wrong(call, Placement::out_of_place, ranks), 0U);
  ranks[0].other[0] = 0;
  EXPECT_EQ(wrong(call, Placement::out_of_place, ranks), 1U);
}

// A sum of many ranks must still be counted without a gap.
TEST(KnownNumbers, SumsOfManyRanksStayExactInSmallTypes) {
  std::int64_t sum = 0;
  for (int r = 0; r < 100; ++r) {
    std::vector<std::uint8_t> data(1);
    fill_known({.operation = "all_reduce",
                .count = 1,
                .dtype = DType::u8,
                .op = ReduceOp::sum,
                .ranks = 100},
               Placement::in_place, r, {buffer_of(std::span(data)), {}});
    sum += data[0];
  }
  EXPECT_LE(sum, 255);
  EXPECT_GE(sum, 100);
}

}  // namespace
}  // namespace ringside
