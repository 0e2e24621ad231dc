// Both bells: no wake-up is lost, between threads and between processes.
#include "runtime/bell.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>
#include <thread>

#include "runtime/semaphore_bell.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;

// Far above any pause of the scheduler: a park that lasts this long has lost its wake-up.
constexpr std::chrono::nanoseconds lost = 20s;

// Two players who hand one ball to and fro, and park whenever it is with the other.
template <class Bell>
struct Game {
  Bell bells[2];
  std::atomic<int> turn{0};

  // Whether every park ended in time.
  bool play(int me, int rounds) {
    for (int round = 0; round < rounds; ++round) {
      if (!wait_for(me)) {
        return false;
      }
      turn.store(1 - me, std::memory_order_seq_cst);
      bells[1 - me].ring();
    }
    return true;
  }

  bool wait_for(int me) {
    const auto mine = [&] { return turn.load(std::memory_order_seq_cst) == me; };
    const auto start = std::chrono::steady_clock::now();
    while (!mine()) {
      const auto seen = bells[me].rings();
      bells[me].will_sleep();
      if (!mine()) {
        bells[me].park(seen, lost);
      }
      bells[me].awake();
    }
    return std::chrono::steady_clock::now() - start < lost;
  }
};

template <class Bell>
class BellOfKind : public testing::Test {};

using Bells = testing::Types<FutexBell, SemaphoreBell>;
TYPED_TEST_SUITE(BellOfKind, Bells);

constexpr int rounds = 20'000;

TYPED_TEST(BellOfKind, LosesNoWakeUpBetweenThreads) {
  Game<TypeParam> game;
  bool other = false;
  std::thread player([&] { other = game.play(1, rounds); });
  EXPECT_TRUE(game.play(0, rounds));
  player.join();
  EXPECT_TRUE(other);
}

TYPED_TEST(BellOfKind, LosesNoWakeUpBetweenProcesses) {
  using G = Game<TypeParam>;
  void* memory =
      mmap(nullptr, sizeof(G), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* game = new (memory) G;
  const pid_t child = fork();
  if (child == 0) {
    _exit(game->play(1, rounds) ? 0 : 1);
  }
  EXPECT_TRUE(game->play(0, rounds));
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  game->~G();
  munmap(memory, sizeof(G));
}

TYPED_TEST(BellOfKind, ParkingEndsAtItsLimit) {
  TypeParam bell;
  const auto seen = bell.rings();
  bell.will_sleep();
  bell.park(seen, 20ms);
  bell.awake();
  EXPECT_EQ(bell.rings(), seen);
}

TYPED_TEST(BellOfKind, ARingBeforeParkingIsNotSleptOver) {
  TypeParam bell;
  const auto start = std::chrono::steady_clock::now();
  const auto seen = bell.rings();
  bell.ring();
  bell.will_sleep();
  bell.park(seen, lost);
  bell.awake();
  EXPECT_LT(std::chrono::steady_clock::now() - start, lost);
}

TYPED_TEST(BellOfKind, ManyRingsAreOneWakeUpAndLeaveNoneBehind) {
  TypeParam bell;
  bell.will_sleep();
  for (int i = 0; i < 100; ++i) {
    bell.ring();
  }
  // What is left over from them may end a few parks early, but not many.
  int early = 0;
  for (int i = 0; i < 10; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const auto seen = bell.rings();
    bell.will_sleep();
    bell.park(seen, 5ms);
    bell.awake();
    early += std::chrono::steady_clock::now() - start < 4ms ? 1 : 0;
  }
  EXPECT_LE(early, 1);
}

}  // namespace
}  // namespace ringside
