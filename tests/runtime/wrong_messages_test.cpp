// Messages that cannot work: nobody sends, both sides block, counts or types differ. Each is found,
// and named with the numbers.
#include <gtest/gtest.h>

#include <vector>

#include "runtime/comm.hpp"
#include "runtime/errors.hpp"
#include "tests/support/job_shapes.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;
using Numbers = std::vector<std::int32_t>;

void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
  for (const auto& part : parts) {
    EXPECT_NE(text.find(part), std::string::npos) << "\"" << part << "\" is not in:\n" << text;
  }
}

JobOptions short_limit(const JobShape& shape) {
  JobOptions options = shape.options();
  options.limit = 300ms;
  return options;
}

class CaseB3Pending : public ShapedTest {};

TEST_P(CaseB3Pending, AReceiveThatNobodySendsTimesOutAndIsListed) {
  const auto result = run_job_tested(2, short_limit(GetParam()), [](Rank& rank) {
    Numbers in(1000);
    if (rank.id() == 1) {
      rank.world().recv(0, buffer_of(std::span(in)), 3);
    }
  });
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.cause, 1);
  expect_parts(result.describe(),
               {"rank 1", "recv from rank 0", "group world", "tag 3", to_string(Bytes{4000})});
}

class CaseB4Blocking : public ShapedTest {};

JobResult both_send_blocking(const JobOptions& options, std::size_t count) {
  return run_job_tested(2, options, [count](Rank& rank) {
    Numbers out(count, rank.id());
    Numbers in(count, -1);
    rank.world().send(1 - rank.id(), buffer_of(std::span(out)));
    rank.world().recv(1 - rank.id(), buffer_of(std::span(in)));
    EXPECT_EQ(in, Numbers(count, 1 - rank.id()));
  });
}

// 0 and 1 both in send, no receive posted.
TEST_P(CaseB4Blocking, BeyondTheEagerLimitBothAreNamedInSend) {
  const auto result = both_send_blocking(short_limit(GetParam()), 1000);
  ASSERT_FALSE(result.ok());
  expect_parts(result.describe(), {"send to rank 0", "send to rank 1", to_string(Bytes{4000}),
                                   "no receive was posted"});
}

TEST_P(CaseB4Blocking, WithinTheEagerLimitItPassesThanksToBuffering) {
  const auto result = both_send_blocking(short_limit(GetParam()), 100);
  EXPECT_EQ(result.ok(), GetParam().eager_limit >= 400) << result.describe();
}

class WrongMessages : public ShapedTest {};

TEST_P(WrongMessages, ACountThatDiffersNamesBothSides) {
  const auto result = run_job_tested(2, GetParam().options(), [](Rank& rank) {
    Numbers numbers(rank.id() == 0 ? 7 : 5);
    if (rank.id() == 0) {
      Request request = rank.world().isend(1, buffer_of(std::span(numbers)));
      request.wait();
    } else {
      rank.world().recv(0, buffer_of(std::span(numbers)));
    }
  });
  ASSERT_EQ(result.cause, 1) << result.describe();
  EXPECT_EQ(result.ranks[1].type, "Desync");
  expect_parts(result.ranks[1].text,
               {"group world", "rank 1 expects 5 elements of i32", "from rank 0", "sent 7 of i32"});
}

TEST_P(WrongMessages, ATypeThatDiffersNamesBothSides) {
  const auto result = run_job_tested(2, GetParam().options(), [](Rank& rank) {
    Numbers numbers(4);
    std::vector<float> floats(4);
    if (rank.id() == 0) {
      Request request = rank.world().isend(1, buffer_of(std::span(numbers)));
      request.wait();
    } else {
      rank.world().recv(0, buffer_of(std::span(floats)));
    }
  });
  ASSERT_EQ(result.cause, 1) << result.describe();
  EXPECT_EQ(result.ranks[1].type, "Desync");
  expect_parts(result.ranks[1].text, {"expects 4 elements of f32", "sent 4 of i32"});
}

// Inside an operation the text names it, what its data is, and where to look.
TEST_P(WrongMessages, AChunkThatIsCutOtherwiseNamesTheOperationAndItsData) {
  const auto result = run_job_tested(2, GetParam().options(), [](Rank& rank) {
    Numbers numbers(4);
    const Buffer data = buffer_of(std::span(numbers));
    rank.world()
        .launch({.count = 4,
                 .operation = std::string_view("all_reduce"),
                 .algorithm = std::string_view("mine"),
                 .label = std::string_view("tokens"),
                 .dtype = DType::i32},
                [&] {
                  rank.world().next_step("gather");
                  if (rank.id() == 0) {
                    rank.world().send(1, data.slice(0, 3));
                  } else {
                    rank.world().recv(0, data.slice(0, 2));
                  }
                })
        .wait();
  });
  ASSERT_EQ(result.cause, 1) << result.describe();
  EXPECT_EQ(result.ranks[1].type, "Desync");
  expect_parts(result.ranks[1].text,
               {"rank 1 expects 2 elements of i32", "which sent 3", "all_reduce (mine)",
                "\"tokens\"", "step 0", "cut the same chunks"});
}

template <class Call>
std::string refusal(Call&& call) {
  try {
    call();
  } catch (const BadUse& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST_P(WrongMessages, RanksAndTagsThatDoNotExistAreRefused) {
  run_ranks_tested(2, GetParam().options(), [](Rank& rank) {
    Comm& world = rank.world();
    Numbers numbers(1);
    const Buffer data = buffer_of(std::span(numbers));
    for (const int wrong : {-1, 2}) {
      expect_parts(refusal([&] { world.send(wrong, data); }),
                   {"group world has ranks 0 to 1", "no rank " + std::to_string(wrong)});
      expect_parts(refusal([&] { world.recv(wrong, data); }),
                   {"group world has ranks 0 to 1", "no rank " + std::to_string(wrong)});
      expect_parts(refusal([&] { world.send_recv(wrong, data, 0, data); }), {"no rank"});
    }
    expect_parts(refusal([&] { world.send(0, data, -1); }), {"tag -1", "0 or more"});
    expect_parts(refusal([&] { world.recv(0, data, -7); }), {"tag -7", "0 or more"});
  });
}

TEST_P(WrongMessages, CopiesMustFit) {
  run_ranks_tested(1, GetParam().options(), [](Rank& rank) {
    Numbers two(2);
    Numbers three(3);
    expect_parts(
        refusal([&] { rank.world().copy(buffer_of(std::span(two)), buffer_of(std::span(three))); }),
        {"2 elements of i32", "3 of i32"});
  });
}

std::vector<JobShape> few_shapes() {
  const auto all = job_shapes();
  return {all[0], all[1], all[2], all[4]};
}

INSTANTIATE_TEST_SUITE_P(Shapes, CaseB3Pending, testing::ValuesIn(few_shapes()), shape_name);
INSTANTIATE_TEST_SUITE_P(Shapes, CaseB4Blocking, testing::ValuesIn(few_shapes()), shape_name);
INSTANTIATE_TEST_SUITE_P(Shapes, WrongMessages, testing::ValuesIn(few_shapes()), shape_name);

}  // namespace
}  // namespace ringside
