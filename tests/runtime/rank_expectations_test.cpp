// That an expectation inside a rank fails the test in the parent.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <csignal>

#include "tests/support/ranks.hpp"

namespace ringside {
namespace {

class RankExpectations : public testing::TestWithParam<Ranks> {
 protected:
  JobOptions options() const { return small_job(GetParam()); }

  // The failures that `body` causes in this test.
  template <class Body>
  static std::vector<testing::TestPartResult> failures_of(Body&& body) {
    testing::TestPartResultArray array;
    {
      const testing::ScopedFakeTestPartResultReporter reporter(
          testing::ScopedFakeTestPartResultReporter::INTERCEPT_ALL_THREADS, &array);
      body();
    }
    std::vector<testing::TestPartResult> failures;
    for (int i = 0; i < array.size(); ++i) {
      failures.push_back(array.GetTestPartResult(i));
    }
    return failures;
  }
};

INSTANTIATE_TEST_SUITE_P(As, RankExpectations, testing::Values(Ranks::processes, Ranks::threads),
                         name_of_ranks);

TEST_P(RankExpectations, AFailureFailsTheParentAtItsFileAndLineWithTheRank) {
  int line = 0;
  const auto failures = failures_of([&] {
    run_ranks_tested(3, options(), [&](Rank& rank) {
      EXPECT_NE(rank.id(), 1) << "ranks but one";
      return rank.id();
    });
    line = __LINE__ - 3;
  });
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_STREQ(failures[0].file_name(), __FILE__);
  EXPECT_EQ(failures[0].line_number(), line);
  EXPECT_NE(std::string(failures[0].message()).find("in rank 1: "), std::string::npos);
  EXPECT_NE(std::string(failures[0].message()).find("ranks but one"), std::string::npos);
}

TEST_P(RankExpectations, OneFailureIsSeenByTheMacrosOfGoogletest) {
  EXPECT_NONFATAL_FAILURE(
      run_ranks_tested(4, options(), [](Rank& rank) { EXPECT_LT(rank.id(), 3); }),
      "in rank 3: Expected: (rank.id()) < (3), actual: 3 vs 3");
}

TEST_P(RankExpectations, AllThatHoldFailNothing) {
  const auto failures = failures_of([&] {
    const auto ids = run_ranks_tested(4, options(), [](Rank& rank) {
      EXPECT_EQ(rank.size(), 4);
      return rank.id();
    });
    EXPECT_EQ(ids, (std::vector<int>{0, 1, 2, 3}));
  });
  EXPECT_EQ(failures.size(), 0U);
}

TEST_P(RankExpectations, AnAssertEndsItsOwnRankOnly) {
  std::vector<int> reached;
  JobOptions with_notes = options();
  with_notes.on_note = [&](int rank, std::string_view) { reached.push_back(rank); };
  const auto failures = failures_of([&] {
    run_ranks_tested(2, with_notes, [](Rank& rank) {
      ASSERT_EQ(rank.id(), 0);
      rank.note("past the assertion");
    });
  });
  EXPECT_EQ(failures.size(), 1U);
  EXPECT_EQ(reached, std::vector<int>{0});
}

TEST_P(RankExpectations, AFailureBeforeAnExceptionIsKept) {
  const auto failures = failures_of([&] {
    const auto result = run_job_tested(2, options(), [](Rank& rank) {
      if (rank.id() == 1) {
        EXPECT_TRUE(false) << "the first sign";
        throw std::runtime_error("and then this");
      }
    });
    EXPECT_EQ(result.cause, 1);
  });
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_NE(std::string(failures[0].message()).find("in rank 1"), std::string::npos);
  EXPECT_NE(std::string(failures[0].message()).find("the first sign"), std::string::npos);
}

TEST(RankExpectationsOfProcesses, AFailureBeforeACrashIsKept) {
  EXPECT_NONFATAL_FAILURE(
      {
        const auto result = run_job_tested(2, small_job(), [](Rank& rank) {
          EXPECT_EQ(rank.id(), 0);
          if (rank.id() == 1) {
            kill(getpid(), SIGKILL);
          }
        });
        if (result.cause != 1) {
          ADD_FAILURE() << "the crash went unnoticed";
        }
      },
      "in rank 1");
}

}  // namespace
}  // namespace ringside
