// All-to-all in unequal parts: nearly nothing is sent, or not what was expected.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "collectives/all_to_all.hpp"
#include "collectives/barrier.hpp"
#include "tests/support/job_shapes.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {
namespace {

using Counts = std::vector<std::size_t>;

std::vector<std::string_view> algorithms() {
  std::vector<std::string_view> names{"auto"};
  for (const auto& row : all_to_all_algorithms()) {
    names.push_back(row.name);
  }
  return names;
}

// Rows of 24 x 5, filled with 1000 x rank + row.
constexpr std::size_t row_elements = 24UL * 5;

Tensor rows(Rank& rank, std::size_t count, float first) {
  const Tensor tensor(rank.memory(), DType::f32, {count, 24, 5}, Category::buffers, "rows");
  for (std::size_t i = 0; i < tensor.count(); ++i) {
    tensor.as<float>()[i] = first + static_cast<float>(i / row_elements);
  }
  return tensor;
}

Counts elements(Counts counts) {
  for (auto& count : counts) {
    count *= row_elements;
  }
  return counts;
}

std::vector<float> row_values(const Tensor& tensor) {
  std::vector<float> values;
  for (std::size_t i = 0; i < tensor.count(); ++i) {
    if (i % row_elements == 0) {
      values.push_back(tensor.as<float>()[i]);
    }
    EXPECT_EQ(tensor.as<float>()[i], values.back()) << "a row is torn";
  }
  return values;
}

std::size_t sum(const Counts& counts) {
  std::size_t all = 0;
  for (const std::size_t count : counts) {
    all += count;
  }
  return all;
}

class CaseB1 : public ShapedTest {};

// The exchange, and its backward: the gradient of what was received goes back where it came from.
void exchange(Rank& rank, std::string_view name, const Counts& send, const Counts& receive,
              const std::vector<float>& expected) {
  const auto mine = static_cast<float>(1000 * rank.id());
  const Tensor in = rows(rank, sum(send), mine);
  const Tensor out = rows(rank, sum(receive), -1);
  all_to_all_v(rank.world(), in.buffer(), elements(send), out.buffer(), elements(receive), {name});
  EXPECT_EQ(row_values(out), expected) << name;
  EXPECT_EQ(out.shape(), (std::vector<std::size_t>{expected.size(), 24, 5}));
  const Tensor gradient = rows(rank, sum(send), -1);
  for (float& value : out.as<float>()) {
    value *= 2;
  }
  all_to_all_v(rank.world(), out.buffer(), elements(receive), gradient.buffer(), elements(send),
               {name});
  for (float& value : in.as<float>()) {
    value *= 2;
  }
  EXPECT_EQ(row_values(gradient), row_values(in)) << name;
}

TEST_P(CaseB1, OnlyRank0Sends) {
  run_ranks_tested(2, GetParam().options(), [](Rank& rank) {
    for (const auto name : algorithms()) {
      const bool first = rank.id() == 0;
      exchange(rank, name, first ? Counts{1, 1} : Counts{0, 0}, {1, 0}, {first ? 0.0F : 1.0F});
    }
  });
}

TEST_P(CaseB1, OneEntryOf16) {
  run_ranks_tested(4, GetParam().options(), [](Rank& rank) {
    for (const auto name : algorithms()) {
      for (int position = 0; position < 16; ++position) {
        const int from = position / 4;
        const int to = position % 4;
        Counts send(4, 0);
        Counts receive(4, 0);
        send[static_cast<std::size_t>(to)] = rank.id() == from ? 1 : 0;
        receive[static_cast<std::size_t>(from)] = rank.id() == to ? 1 : 0;
        std::vector<float> expected;
        if (rank.id() == to) {
          expected.push_back(static_cast<float>(1000 * from));
        }
        exchange(rank, name, send, receive, expected);
      }
    }
  });
}

class CaseB2 : public ShapedTest {};

// Rank `to` of p expects 2 rows from rank 0, which sends 3; all else agrees. Nobody passes the
// barrier behind it.
void expect_disagreement(const JobOptions& options, int p, std::size_t to) {
  for (const auto name : algorithms()) {
    const auto result = run_job_tested(p, options, [&](Rank& rank) {
      const auto n = static_cast<std::size_t>(p);
      const bool receives = static_cast<std::size_t>(rank.id()) == to;
      Counts send(n, 1);
      Counts receive(n, 1);
      send[to] = rank.id() == 0 ? 3 : 1;
      receive[0] = receives ? 2 : 1;
      std::vector<std::int32_t> in(sum(send));
      std::vector<std::int32_t> out(sum(receive));
      all_to_all_v(rank.world(), buffer_of(std::span(in)), send, buffer_of(std::span(out)), receive,
                   {name});
      barrier(rank.world());
    });
    ASSERT_EQ(result.cause, static_cast<int>(to)) << name << "\n" << result.describe();
    EXPECT_EQ(result.ranks[to].type, "Desync") << result.ranks[to].text;
    const auto part = "rank " + std::to_string(to) +
                      " expects 2 elements of i32 from rank 0, which sent 3 of i32 in all_to_all_v";
    EXPECT_NE(result.describe().find(part), std::string::npos) << name << "\n" << result.describe();
    for (const auto& rank : result.ranks) {
      EXPECT_NE(rank.ending, Ending::returned) << name << "\n" << result.describe();
    }
  }
}

TEST_P(CaseB2, CountsThatDoNotAgreeNameThePairAndBothCounts) {
  expect_disagreement(GetParam().options(), 3, 1);
}

// Rank 3 hears of rank 0 through rank 2.
TEST_P(CaseB2, AndSoDoCountsThatAreForwarded) {
  JobOptions options = GetParam().options();
  options.cluster.gpus_per_node = 2;
  expect_disagreement(options, 4, 3);
}

TEST_P(CaseB2, SevenRowsAreNotDivisibleBy3) {
  run_ranks_tested(3, GetParam().options(), [](Rank& rank) {
    std::vector<std::int32_t> in(7);
    std::vector<std::int32_t> out(7);
    for (const auto name : algorithms()) {
      try {
        all_to_all(rank.world(), buffer_of(std::span(in)), buffer_of(std::span(out)), {name});
        ADD_FAILURE() << "nothing was refused";
      } catch (const BadUse& error) {
        EXPECT_EQ(std::string(error.what()),
                  "all_to_all on group world: 7 elements are not divisible by 3 ranks; give counts "
                  "to all_to_all_v, or pad");
      }
    }
    barrier(rank.world());  // nothing was begun
  });
}

TEST_P(CaseB2, WhatOneRankGetsWrongAloneIsRefusedThere) {
  run_ranks_tested(2, GetParam().options(), [](Rank& rank) {
    std::vector<std::int32_t> three(3);
    std::vector<std::int32_t> four(4);
    const auto refusal = [&](Counts send, Counts receive) {
      try {
        all_to_all_v(rank.world(), buffer_of(std::span(three)), send, buffer_of(std::span(four)),
                     receive);
      } catch (const BadUse& error) {
        return std::string(error.what());
      }
      return std::string("nothing was refused");
    };
    const std::string who = "all_to_all_v on group world";
    const auto me = std::to_string(rank.id());
    EXPECT_EQ(refusal({1, 1, 1}, {2, 2}), who + ": 3 counts for 2 ranks");
    EXPECT_EQ(refusal({1, 1}, {1, 3}).substr(0, who.size()), who);
    EXPECT_EQ(refusal({3, 0}, {2, 2}), who + ": rank " + me + " sends itself " +
                                           (rank.id() == 0 ? "3" : "0") +
                                           " elements and expects 2");
  });
}

INSTANTIATE_TEST_SUITE_P(Shapes, CaseB1, testing::ValuesIn(job_shapes()), shape_name);
INSTANTIATE_TEST_SUITE_P(Shapes, CaseB2, testing::ValuesIn(job_shapes()), shape_name);

}  // namespace
}  // namespace ringside
