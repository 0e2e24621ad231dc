// Ranks that crash, exit or are killed, and what is left of a job afterwards: nothing.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
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

void compute_for_ever() {
  for (std::atomic<unsigned> turns{0};; ++turns) {
  }
}

// A crash as without any sanitizer, whose handlers would turn it into an exit.
void crash_by(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

bool has_no_child() {
  return waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD;
}

struct Death {
  const char* name;
  void (*die)();
  Ending ending;
  int code;
  const char* text;
};

class LaunchDeath : public testing::TestWithParam<Death> {};

INSTANTIATE_TEST_SUITE_P(
    Of, LaunchDeath,
    testing::Values(
        Death{"segfault", [] { crash_by(SIGSEGV); }, Ending::killed, SIGSEGV,
              "rank 2 was killed by SIGSEGV"},
        Death{"abort", [] { crash_by(SIGABRT); }, Ending::killed, SIGABRT,
              "rank 2 was killed by SIGABRT"},
        Death{"kill", [] { kill(getpid(), SIGKILL); }, Ending::killed, SIGKILL,
              "rank 2 was killed by SIGKILL"},
        Death{"exit_86", [] { _exit(86); }, Ending::exited, 86, "rank 2 exited with code 86"},
        Death{"exit_0", [] { _exit(0); }, Ending::exited, 0, "rank 2 exited with code 0"}),
    [](const testing::TestParamInfo<Death>& death) { return death.param.name; });

// Of the peers one waits and one computes, so one hears of the end and one has to be killed.
TEST_P(LaunchDeath, IsNamedAndEndsTheOthersWithinTwoSeconds) {
  const auto start = std::chrono::steady_clock::now();
  const auto result = run_job(4, small_job(), [](Rank& rank) -> std::string {
    if (rank.id() == 2) {
      GetParam().die();
    } else if (rank.id() == 0) {
      compute_for_ever();
    }
    wait_for_ever(rank, 2);
    return {};
  });
  EXPECT_LT(std::chrono::steady_clock::now() - start, 2s);
  EXPECT_EQ(result.cause, 2);
  EXPECT_EQ(result.ranks[2].ending, GetParam().ending);
  EXPECT_EQ(result.ranks[2].code, GetParam().code);
  EXPECT_EQ(result.ranks[0].ending, Ending::stopped);
  EXPECT_TRUE(result.ranks[0].text.starts_with(std::string("stopped while it computed: ") +
                                               GetParam().text))
      << result.ranks[0].text;
  EXPECT_EQ(result.ranks[1].ending, Ending::stopped);
  const std::string text = result.describe();
  EXPECT_TRUE(text.starts_with(GetParam().text)) << text;
  EXPECT_NE(text.find("ranks 1, 3 stopped in recv from rank 2"), std::string::npos) << text;
  EXPECT_THROW(result.raise(), PeerLost);
  EXPECT_TRUE(has_no_child());
}

TEST(LaunchProcesses, ADeathIsTheCauseEvenWhenASurvivorNoticedItFirst) {
  const auto result = run_job(2, small_job(), [](Rank& rank) -> std::string {
    if (rank.id() == 0) {
      throw PeerLost("the connection to rank 1 broke");
    }
    std::this_thread::sleep_for(100ms);
    kill(getpid(), SIGKILL);
    return {};
  });
  EXPECT_EQ(result.cause, 1) << result.describe();
}

// The survivors see the broken connection, and may do so first.
TEST(LaunchProcesses, ADeathInAnotherNodeIsNamed) {
  JobOptions nodes = small_job();
  nodes.cluster.gpus_per_node = 1;
  const auto start = std::chrono::steady_clock::now();
  const auto result = run_job(3, nodes, [](Rank& rank) -> std::string {
    if (rank.id() == 1) {
      kill(getpid(), SIGKILL);
    }
    wait_for_ever(rank, 1);
    return {};
  });
  EXPECT_LT(std::chrono::steady_clock::now() - start, 2s);
  EXPECT_TRUE(result.describe().starts_with("rank 1 was killed by SIGKILL")) << result.describe();
}

TEST(LaunchProcesses, AGrandchildThatHoldsThePipeDoesNotHideADeath) {
  const auto start = std::chrono::steady_clock::now();
  const auto result = run_job(2, small_job(), [](Rank& rank) -> std::string {
    if (rank.id() == 0) {
      if (fork() == 0) {
        std::this_thread::sleep_for(3s);
        _exit(0);
      }
      kill(getpid(), SIGKILL);
    }
    wait_for_ever(rank, 0);
    return {};
  });
  EXPECT_LT(std::chrono::steady_clock::now() - start, 2s);
  EXPECT_EQ(result.ranks[0].ending, Ending::killed);
}

TEST(LaunchProcesses, LeaveNoProcessAndNoDescriptorBehind) {
  const auto open = open_descriptors();
  for (const int end : {0, 1, 2}) {
    run_job(6, small_job(), [&](Rank& rank) -> std::string {
      if (rank.id() == 3 && end == 1) {
        throw BadUse("on purpose");
      }
      if (rank.id() == 3 && end == 2) {
        kill(getpid(), SIGKILL);
      }
      return {};
    });
    EXPECT_EQ(open_descriptors(), open);
    EXPECT_TRUE(has_no_child());
  }
}

TEST(LaunchProcesses, AThrowingNoteHandlerEndsAllRanks) {
  JobOptions options = small_job();
  options.on_note = [](int, std::string_view) { throw std::logic_error("no notes please"); };
  EXPECT_THROW(run_ranks(4, options,
                         [](Rank& rank) {
                           rank.note("hello");
                           compute_for_ever();
                         }),
               std::logic_error);
  EXPECT_TRUE(has_no_child());
}

TEST(LaunchProcesses, StandardOutputIsPrintedOnce) {
  testing::internal::CaptureStdout();
  std::printf("before;");
  run_ranks(3, small_job(), [](Rank&) { std::printf("rank;"); });
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "before;rank;rank;rank;");
}

}  // namespace
}  // namespace ringside
