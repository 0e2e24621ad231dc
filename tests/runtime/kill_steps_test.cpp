// Case D2. There is no lock to die with: a rank is killed at each step of a mailbox's push, its
// bell, an acknowledgement and a loan given back, and the others do not sleep on.
#include <gtest/gtest.h>
#include <sys/time.h>

#include <chrono>
#include <random>
#include <thread>

#include "runtime/comm.hpp"
#include "runtime/errors.hpp"
#include "tests/support/kill_at_instruction.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;

constexpr int victim = 1;
constexpr int deaths = 16;

// What the victim does, and what rank 0 does with it.
struct Steps {
  const char* name;
  void (*prepare)(Rank&, Buffer);  // the victim, before it counts
  void (*act)(Rank&, Buffer);      // the victim
  void (*peer)(Rank&, Buffer);
};

void wait_a_little(Rank&, Buffer) {
  std::this_thread::sleep_for(10ms);  // until the message has come
}

void lend_and_wait(Rank& rank, Buffer data) {
  Loan loan = rank.world().lend(victim, data);
  loan.wait();
}

const std::vector<Steps>& all_steps() {
  static const std::vector<Steps> steps{
      {"Push", [](Rank&, Buffer) {},
       [](Rank& rank, Buffer data) { rank.world().send(0, data.slice(0, 1)); },
       [](Rank& rank, Buffer data) { rank.world().recv(victim, data.slice(0, 1)); }},
      {"Acknowledgement", wait_a_little,
       [](Rank& rank, Buffer data) { rank.world().recv(0, data); },
       [](Rank& rank, Buffer data) { rank.world().send(victim, data); }},
      {"LoanGivenBack", wait_a_little,
       [](Rank& rank, Buffer data) { rank.world().borrow(0, data).give_back(); }, lend_and_wait}};
  return steps;
}

class CaseD2 : public testing::TestWithParam<Steps> {};

std::string run_rank(Rank& rank, const Steps& steps, long at) {
  const Tensor data(rank.memory(), DType::i32, {300}, Category::buffers, "data");
  if (rank.id() == 0) {
    steps.peer(rank, data.buffer());
    steps.peer(rank, data.buffer());
  } else if (rank.id() == victim) {
    steps.act(rank, data.buffer());  // uncounted: what happens only once is done by then
    steps.prepare(rank, data.buffer());
    InstructionCounter::start(at);
    steps.act(rank, data.buffer());
    const long count = InstructionCounter::stop();
    if (at == 0) {
      return std::to_string(count);
    }
    kill(getpid(), SIGKILL);
  }
  if (at != 0) {
    rank.world().recv(victim, data.buffer(), 7);  // never comes
  }
  return {};
}

void expect_death_of_victim(const JobResult& result, long at) {
  EXPECT_LT(result.wall, 20s) << "after " << at << " instructions";
  EXPECT_EQ(result.cause, victim) << result.describe();
  EXPECT_EQ(result.ranks[victim].ending, Ending::killed);
  for (const int other : {0, 2}) {
    const RankOutcome& rank = result.ranks[static_cast<std::size_t>(other)];
    EXPECT_EQ(rank.ending, Ending::stopped) << result.describe();
    EXPECT_NE(rank.text.find("rank 1 was killed by SIG"), std::string::npos) << rank.text;
  }
}

TEST_P(CaseD2, AKillAtEachStepEndsTheJob) {
  if (!can_kill_at_instruction) {
    GTEST_SKIP() << "instructions cannot be counted here";
  }
  const auto whole =
      run_job(3, small_job(), [&](Rank& rank) { return run_rank(rank, GetParam(), 0); });
  ASSERT_TRUE(whole.ok()) << whole.describe();
  const long count = std::stol(whole.ranks[victim].value);
  ASSERT_GT(count, deaths);
  for (int i = 1; i <= deaths && !HasFailure(); ++i) {
    const long at = count * i / deaths;
    expect_death_of_victim(
        run_job(3, small_job(), [&](Rank& rank) { return run_rank(rank, GetParam(), at); }), at);
  }
}

INSTANTIATE_TEST_SUITE_P(Of, CaseD2, testing::ValuesIn(all_steps()),
                         [](const auto& steps) { return std::string(steps.param.name); });

// Also in parking, waking and draining: at any time of many messages to and fro.
TEST(CaseD2Any, AKillAtAnyTimeEndsTheJob) {
  std::mt19937 random(1);
  for (int round = 0; round < 60 && !testing::Test::HasFailure(); ++round) {
    JobOptions options = small_job();
    options.eager_limit = round % 2 == 0 ? 0 : options.eager_limit;
    options.disturb = round % 3 == 0 ? static_cast<std::uint64_t>(round) + 1 : 0;
    const auto micros = static_cast<suseconds_t>(1 + random() % 15'000);
    const auto result = run_job(3, options, [&](Rank& rank) -> std::string {
      if (rank.id() == victim) {
        const itimerval once{.it_interval = {}, .it_value = {.tv_sec = 0, .tv_usec = micros}};
        setitimer(ITIMER_REAL, &once, nullptr);  // SIGALRM kills
      }
      std::int32_t out = 0;
      std::int32_t in = 0;
      for (;;) {
        rank.world().send_recv(rank.world().next(), buffer_of(std::span(&out, 1)),
                               rank.world().prev(), buffer_of(std::span(&in, 1)));
      }
    });
    expect_death_of_victim(result, micros);
  }
}

}  // namespace
}  // namespace ringside
