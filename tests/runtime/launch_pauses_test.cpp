// Launchers that are killed, ranks that are stopped, pauses of everything.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <random>
#include <string>

#include "runtime/comm.hpp"
#include "runtime/launch.hpp"
#include "tests/support/child.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;

void sleep_for(std::chrono::milliseconds time) {
  std::this_thread::sleep_for(time);
}

JobOptions with_limit(std::chrono::milliseconds limit) {
  JobOptions options = small_job();
  options.limit = limit;
  return options;
}

template <class T>
T receive(Rank& rank, int from) {
  T value{};
  rank.world().recv(from, buffer_of(std::span(&value, 1)));
  return value;
}

template <class T>
void send(Rank& rank, int to, T value) {
  rank.world().send(to, buffer_of(std::span(&value, 1)));
}

// ---- D9: the launcher is killed -----------------------------------------------------------------

TEST(LauncherKilled, CaseD9AtStartUpNoRankLivesOn) {
  std::mt19937 random(1);
  for (int round = 0; round < 30; ++round) {
    TestChild launcher(
        [](int) { run_ranks(24, small_job(), [](Rank&) { std::this_thread::sleep_for(60s); }); });
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 20'000));
    launcher.process().kill();
    ASSERT_TRUE(launcher.all_gone(2s)) << "round " << round;
  }
}

TEST(LauncherKilled, CaseD9InAComputePhaseNoRankLivesOn) {
  TestChild launcher([](int out) {
    run_ranks(4, small_job(), [=](Rank&) {
      write_all(out, ".");
      for (std::atomic<unsigned> turns{0};; ++turns) {
      }
    });
  });
  ASSERT_EQ(launcher.hear(4, 10s), "....");
  launcher.process().kill();
  EXPECT_TRUE(launcher.all_gone(2s));
}

TEST(LauncherKilled, CaseD9InAWaitNoRankLivesOn) {
  TestChild launcher([](int out) {
    run_ranks(4, small_job(), [=](Rank& rank) {
      write_all(out, ".");
      if (rank.id() == 0) {  // or it would be a deadlock, which ends by itself
        sleep_for(60s);
      }
      receive<std::int32_t>(rank, rank.world().prev());
    });
  });
  ASSERT_EQ(launcher.hear(4, 10s), "....");
  sleep_for(50ms);  // until they are parked
  launcher.process().kill();
  EXPECT_TRUE(launcher.all_gone(2s));
}

// ---- D10: pauses --------------------------------------------------------------------------------

// Without counting in slices, both the wait (3.5 s, limit 1.2 s) and the silence (limit 2.4 s)
// would be over.
TEST(Pause, CaseD10OfTheWholeGroupIsNoSilence) {
  TestChild launcher([](int out) {
    setpgid(0, 0);
    const auto result = run_job(2, with_limit(1200ms), [=](Rank& rank) -> std::string {
      if (rank.id() == 0) {
        write_all(out, ".");
        for (int i = 0; i < 50; ++i) {  // computes for half a second
          sleep_for(10ms);
        }
        send(rank, 1, std::int32_t{5});
      } else {
        receive<std::int32_t>(rank, 0);
      }
      return {};
    });
    write_all(out, result.ok() ? "ok" : result.describe());
  });
  ASSERT_EQ(launcher.hear(1, 10s), ".");
  sleep_for(100ms);
  ASSERT_EQ(kill(-launcher.process().pid(), SIGSTOP), 0);
  sleep_for(3s);
  ASSERT_EQ(kill(-launcher.process().pid(), SIGCONT), 0);
  EXPECT_EQ(launcher.hear(std::string::npos, 10s), "ok");
}

TEST(Pause, CaseD10OfOneRankShorterThanTheLimitIsNoAlarm) {
  const auto result = run_job(2, with_limit(2500ms), [](Rank& rank) -> std::string {
    if (rank.id() == 0) {
      send(rank, 1, std::int32_t{getpid()});
      std::raise(SIGSTOP);
      send(rank, 1, std::int32_t{1});
    } else {
      const auto pid = receive<std::int32_t>(rank, 0);
      sleep_for(1000ms);
      kill(pid, SIGCONT);
      receive<std::int32_t>(rank, 0);
    }
    return {};
  });
  EXPECT_TRUE(result.ok()) << result.describe();
}

TEST(Silence, OfAStoppedRankIsNoticedByTheRankThatWaitsForIt) {
  const auto result = run_job(2, with_limit(400ms), [](Rank& rank) -> std::string {
    if (rank.id() == 0) {
      std::raise(SIGSTOP);
    }
    receive<std::int32_t>(rank, 0);
    return {};
  });
  EXPECT_EQ(result.cause, 1);
  EXPECT_EQ(result.ranks[1].type, "PeerLost");
  EXPECT_NE(result.ranks[1].text.find("from rank 0"), std::string::npos) << result.ranks[1].text;
}

TEST(Silence, OfARankIsNoticedByTheLauncher) {
  const auto result = run_job(2, with_limit(300ms), [](Rank& rank) -> std::string {
    if (rank.id() == 0) {
      std::raise(SIGSTOP);
    }
    for (;;) {  // computes, and is heard of
      rank.clock().charge_flops(1'000, "block");
      sleep_for(5ms);
    }
  });
  EXPECT_EQ(result.cause, 0) << result.describe();
  EXPECT_EQ(result.ranks[0].ending, Ending::silent);
  EXPECT_NE(result.describe().find("rank 0 was silent for 0."), std::string::npos)
      << result.describe();
  EXPECT_EQ(result.ranks[1].ending, Ending::stopped);
}

// "12 (name) S …": asleep, as a rank is that has parked; not one that yields.
bool is_asleep(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(stat, line);
  const auto end_of_name = line.rfind(") ");
  return end_of_name != std::string::npos && line[end_of_name + 2] == 'S';
}

// Two nodes: a rank that has finished keeps its sockets open until the others have.
TEST(Silence, IsNotOfARankThatHasFinishedBeforeItsPeers) {
  JobOptions options = with_limit(100ms);
  options.cluster.gpus_per_node = 1;
  const auto result = run_job(2, options, [](Rank& rank) -> std::string {
    for (int block = 0; rank.id() == 1 && block < 160; ++block) {
      rank.clock().charge_flops(1'000, "block");
      sleep_for(5ms);
    }
    return {};
  });
  EXPECT_TRUE(result.ok()) << result.describe();
}

// Nobody waits for this rank, and its own limit cannot fire.
TEST(Silence, OfARankThatIsStoppedInItsWaitIsNoticedByTheLauncher) {
  const auto result = run_job(2, with_limit(300ms), [](Rank& rank) -> std::string {
    if (rank.id() == 0) {
      send(rank, 1, std::int32_t{getpid()});
      receive<std::int32_t>(rank, 1);
    } else {
      const auto pid = receive<std::int32_t>(rank, 0);
      while (!is_asleep(pid)) {
        sleep_for(1ms);
      }
      kill(pid, SIGSTOP);
      for (int block = 0; block < 1000; ++block) {
        rank.clock().charge_flops(1'000, "block");
        sleep_for(5ms);
      }
    }
    return {};
  });
  EXPECT_EQ(result.cause, 0) << result.describe();
  EXPECT_EQ(result.ranks[0].ending, Ending::silent);
  EXPECT_NE(result.ranks[0].text.find("in recv from rank 1"), std::string::npos)
      << result.ranks[0].text;
  EXPECT_EQ(result.ranks[1].ending, Ending::stopped);
}

TEST(Silence, IsNoAlarmForARankThatComputesWithinTheLimit) {
  const auto result = run_job(2, with_limit(500ms), [](Rank& rank) -> std::string {
    sleep_for(rank.id() == 0 ? 700ms : 0ms);
    return {};
  });
  EXPECT_TRUE(result.ok()) << result.describe();
}

// Both send and nobody receives: a deadlock, and both sends are listed.
TEST(Silence, CrossedSendsAreListedWithBothSides) {
  const auto result = run_job(2, with_limit(400ms), [](Rank& rank) -> std::string {
    std::vector<double> large(100'000);
    rank.world().send(1 - rank.id(), buffer_of(std::span(large)));
    return {};
  });
  EXPECT_FALSE(result.ok());
  const std::string text = result.describe();
  EXPECT_NE(text.find("send to rank 0"), std::string::npos) << text;
  EXPECT_NE(text.find("send to rank 1"), std::string::npos) << text;
}

}  // namespace
}  // namespace ringside
