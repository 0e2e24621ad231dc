#include "runtime/launch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <thread>

#include "runtime/comm.hpp"
#include "runtime/errors.hpp"
#include "runtime/process.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;

void wait_for_ever(Rank& rank, int from) {
  std::int32_t never = 0;
  rank.world().recv(from, buffer_of(std::span(&never, 1)));
}

class Launch : public testing::TestWithParam<Ranks> {
 protected:
  JobOptions options() const { return small_job(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(As, Launch, testing::Values(Ranks::processes, Ranks::threads),
                         name_of_ranks);

TEST_P(Launch, ValuesComeBackInRankOrder) {
  struct Plain {
    int rank;
    double square;
  };

  const auto plain = run_ranks(5, options(), [](Rank& rank) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5 - rank.id()));  // the last ends first
    return Plain{rank.id(), 1.0 * rank.id() * rank.id()};
  });
  ASSERT_EQ(plain.size(), 5U);
  for (int r = 0; r < 5; ++r) {
    EXPECT_EQ(plain[static_cast<std::size_t>(r)].rank, r);
    EXPECT_EQ(plain[static_cast<std::size_t>(r)].square, r * r);
  }
  const auto texts = run_ranks(3, options(), [](Rank& rank) {
    return std::string(static_cast<std::size_t>(rank.id()), '\0') + std::to_string(rank.size());
  });
  EXPECT_EQ(texts,
            (std::vector<std::string>{"3", std::string("\0003", 2), std::string("\0\0003", 3)}));
  const auto vectors = run_ranks(3, options(), [](Rank& rank) {
    return std::vector<double>(static_cast<std::size_t>(rank.id()), 0.5);
  });
  EXPECT_EQ(vectors, (std::vector<std::vector<double>>{{}, {0.5}, {0.5, 0.5}}));
  EXPECT_NO_THROW(run_ranks(3, options(), [](Rank&) {}));
}

TEST_P(Launch, RanksTalkAndTheirReportsComeBack) {
  const auto result = run_job(2, options(), [](Rank& rank) {
    std::vector<float> data(100, static_cast<float>(rank.id()));
    if (rank.id() == 0) {
      rank.world().send(1, buffer_of(std::span(data)));
    } else {
      rank.world().recv(0, buffer_of(std::span(data)));
    }
    return std::to_string(data[99]);
  });
  ASSERT_TRUE(result.ok()) << result.describe();
  EXPECT_EQ(result.ranks[1].value, std::to_string(0.0F));
  ASSERT_EQ(result.ranks[0].report.sums.size(), 1U);
  EXPECT_EQ(result.ranks[0].report.sums[0].sent_bytes, 400);
  ASSERT_EQ(result.ranks[1].report.sums.size(), 1U);
  EXPECT_EQ(result.ranks[1].report.sums[0].received_bytes, 400);
  EXPECT_GT(result.ranks[1].report.modelled, Time(0));
}

TEST_P(Launch, AnExceptionComesBackWithTypeTextAndRank) {
  const auto result = run_job(4, options(), [](Rank& rank) -> std::string {
    if (rank.id() == 2) {
      throw std::out_of_range("no such microbatch: 17");
    }
    wait_for_ever(rank, 2);
    return "not reached";
  });
  EXPECT_EQ(result.cause, 2);
  EXPECT_EQ(result.ranks[2].ending, Ending::threw);
  EXPECT_EQ(result.ranks[2].type, "std::out_of_range");
  EXPECT_EQ(result.ranks[2].text, "no such microbatch: 17");
  for (const std::size_t r : {0U, 1U, 3U}) {
    EXPECT_EQ(result.ranks[r].ending, Ending::stopped);
    EXPECT_NE(result.ranks[r].text.find("recv from rank 2"), std::string::npos)
        << result.ranks[r].text;
  }
  const std::string text = result.describe();
  EXPECT_TRUE(text.starts_with("rank 2 threw std::out_of_range: no such microbatch: 17\n")) << text;
  EXPECT_NE(text.find("ranks 0-1, 3 stopped in recv from rank 2"), std::string::npos) << text;
}

template <class Error>
void expect_family(const JobOptions& options) {
  try {
    run_ranks(3, options, [](Rank& rank) {
      if (rank.id() == 1) {
        throw Error("the numbers 3 and 4 disagree");
      }
    });
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("rank 1 threw"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("the numbers 3 and 4 disagree"), std::string::npos);
  }
}

TEST_P(Launch, TheFamilyOfErrorsIsThrownAgain) {
  expect_family<BadUse>(options());
  expect_family<PeerLost>(options());
  expect_family<Desync>(options());
  expect_family<Deadlock>(options());
  expect_family<OutOfDeviceMemory>(options());
}

TEST_P(Launch, OtherExceptionsBecomePeerLost) {
  EXPECT_THROW(run_ranks(2, options(), [](Rank&) { throw std::runtime_error("x"); }), PeerLost);
  const auto result = run_job(2, options(), [](Rank&) -> std::string { throw 42; });
  EXPECT_EQ(result.ranks[0].type, "int");
}

TEST_P(Launch, AnythingElseIsTheCauseRatherThanPeerLost) {
  const auto result = run_job(3, options(), [](Rank& rank) -> std::string {
    if (rank.id() == 1) {
      std::this_thread::sleep_for(100ms);  // the survivor noticed it first
      throw std::runtime_error("the true cause");
    }
    throw PeerLost("the connection to rank 1 broke");
  });
  EXPECT_EQ(result.cause, 1) << result.describe();
}

TEST_P(Launch, TheTrafficUpToAnExceptionIsReported) {
  const auto result = run_job(2, options(), [](Rank& rank) -> std::string {
    std::int32_t number = 7;
    if (rank.id() == 0) {
      rank.world().send(1, buffer_of(std::span(&number, 1)));
      throw std::runtime_error("after the send");
    }
    rank.world().recv(0, buffer_of(std::span(&number, 1)));
    wait_for_ever(rank, 0);
    return {};
  });
  EXPECT_EQ(result.cause, 0);
  ASSERT_EQ(result.ranks[0].report.sums.size(), 1U);
  EXPECT_EQ(result.ranks[0].report.sums[0].sent_messages, 1);
}

TEST_P(Launch, NotesReachTheLauncherInOrder) {
  std::vector<std::vector<std::string>> notes(4);
  JobOptions with_notes = options();
  with_notes.on_note = [&](int rank, std::string_view text) {
    notes[static_cast<std::size_t>(rank)].emplace_back(text);
  };
  run_ranks(4, with_notes, [](Rank& rank) {
    for (int i = 0; i < 3; ++i) {
      rank.note("note " + std::to_string(i) + " of " + std::to_string(rank.id()));
    }
  });
  for (std::size_t r = 0; r < 4; ++r) {
    const std::string of = " of " + std::to_string(r);
    EXPECT_EQ(notes[r], (std::vector<std::string>{"note 0" + of, "note 1" + of, "note 2" + of}));
  }
}

TEST_P(Launch, SixtyFourAndManyMoreRanks) {
  for (const int n : {1, 64, 256}) {
    const auto ids = run_ranks(n, options(), [](Rank& rank) { return rank.id(); });
    std::vector<int> expected(static_cast<std::size_t>(n));
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(ids, expected);
  }
}

TEST_P(Launch, LargeValuesOfAllRanksCannotBlockEachOther) {
  constexpr std::size_t size = 64U << 20;
  const auto values = run_ranks(3, options(), [](Rank& rank) {
    return std::string(size, static_cast<char>('a' + rank.id()));
  });
  for (std::size_t r = 0; r < 3; ++r) {
    ASSERT_EQ(values[r].size(), size);
    EXPECT_EQ(values[r].find_first_not_of(static_cast<char>('a' + r)), std::string::npos);
  }
}

TEST_P(Launch, RanksInManyNodesTalkAndLeaveNoDescriptorBehind) {
  const auto open = open_descriptors();
  JobOptions nodes = options();
  nodes.cluster.gpus_per_node = 2;  // 2 + 2 + 1
  const auto sums = run_ranks(5, nodes, [](Rank& rank) {
    std::int32_t sum = 0;
    for (int other = 0; other < rank.size(); ++other) {
      std::int32_t mine = rank.id();
      std::int32_t theirs = 0;
      rank.world().send_recv(other, buffer_of(std::span(&mine, 1)), other,
                             buffer_of(std::span(&theirs, 1)));
      sum += theirs;
    }
    return sum;
  });
  EXPECT_EQ(sums, (std::vector<std::int32_t>{10, 10, 10, 10, 10}));
  EXPECT_EQ(open_descriptors(), open);
}

TEST_P(Launch, NoRankIsRefused) {
  EXPECT_THROW(run_ranks(0, options(), [](Rank&) {}), BadUse);
  EXPECT_THROW(run_ranks(-3, options(), [](Rank&) {}), BadUse);
}

TEST_P(Launch, ManyDifferentSentencesStayShort) {
  const auto result = run_job(100, options(), [](Rank& rank) -> std::string {
    throw std::runtime_error("reason " + std::to_string(rank.id()));
  });
  const std::string text = result.describe();
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 17) << text;
}

}  // namespace
}  // namespace ringside
