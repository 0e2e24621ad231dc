// D10: clocks that jump, and pauses.
#include <gtest/gtest.h>

#include <cstdio>
#include <ctime>

#include "runtime/traffic_log.hpp"
#include "scenarios/exit_codes.hpp"
#include "tests/scenarios/refusal.hpp"
#include "tests/support/running_program.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// A job of about a second and a half, with a limit of so many seconds.
std::string job(int timeout) {
  return "run dp/ring --json --ranks 8 --out run --pace 4000 --set train.lr=0.001" + tiny_job +
         " --set train.steps=20 --timeout " + std::to_string(timeout);
}

// The same over sockets, whose links are slower.
std::string socket_job(int timeout) {
  return "run dp/ring --json --ranks 8 --out run --pace 400 --set train.lr=0.001" + tiny_job +
         " --set train.steps=20 --set cluster.nodes=4 --set cluster.gpus_per_node=2 --timeout " +
         std::to_string(timeout);
}

// Also in the build with sanitizers, which want to be the first library.
std::string preload_of_shifted_clock() {
  for (const auto& folder : fs::directory_iterator("/usr/lib")) {
    const auto library = folder.path() / "faketime/libfaketime.so.1";
    if (std::error_code none; fs::exists(library, none)) {
      return "ASAN_OPTIONS=verify_asan_link_order=0 FAKETIME_DONT_FAKE_MONOTONIC=1"
             " FAKETIME_NO_CACHE=1 LD_PRELOAD=" +
             library.string() + " FAKETIME_TIMESTAMP_FILE=";
    }
  }
  return {};
}

// Renamed into place, so that nobody reads half of it.
void set_clock(const fs::path& file, const std::string& shift) {
  std::ofstream(file.string() + ".new") << shift << '\n';
  fs::rename(file.string() + ".new", file);
}

long long time_told_by_date(const std::string& environment) {
  FILE* date = popen(("env " + environment + " date +%s").c_str(), "r");
  long long told = 0;
  EXPECT_EQ(std::fscanf(date, "%lld", &told), 1);
  pclose(date);
  return told;
}

void expect_sane_times(const Ended& ended, const fs::path& run) {
  EXPECT_EQ(ended.exit_code, exit_ok) << ended.err;
  const auto document = ended.document();
  EXPECT_EQ(document["verdict"], "pass");
  EXPECT_GT(document["time"]["wall_ns"], 0);
  EXPECT_LT(document["time"]["wall_ns"], 600'000'000'000);  // no hour has crept in
  std::size_t messages = 0;
  read_traffic_log(run / "traffic.jsonl", [&](const LoggedMessage& message) {
    ++messages;
    EXPECT_GE(message.wall_ns, 0);
    EXPECT_LT(message.wall_ns, 600'000'000'000);
    EXPECT_LE(message.start, message.end);
  });
  EXPECT_GT(messages, 1000U);
}

TEST(Clocks, CaseD10StepsOfAnHourEitherWayDisturbNothing) {
  const auto preload = preload_of_shifted_clock();
  ASSERT_NE(preload, "") << "libfaketime is missing: scripts/setup installs it (package faketime)";
  const TemporaryFolder folder;
  const auto clock = folder / "clock";
  set_clock(clock, "+3600");
  ASSERT_GT(time_told_by_date(preload + clock.string()), std::time(nullptr) + 3000)
      << "the clock is not shifted";
  set_clock(clock, "+0");
  RunningProgram program(job(10), preload + clock.string());
  ASSERT_EQ(program.all_ranks(8).size(), 8U) << program.wait(seconds(1)).err;
  for (const auto* shift : {"+3600", "-3600", "+0", "-3600", "+3600"}) {
    set_clock(clock, shift);
    std::this_thread::sleep_for(milliseconds(100));
    EXPECT_FALSE(program.over()) << "over before the clock was " << shift;
  }
  expect_sane_times(program.wait(minutes(1)), program.folder() / "run");
}

TEST(Clocks, CaseD10ARankStoppedForLessThanTheLimitIsNotLost) {
  RunningProgram program(job(10));
  const auto ranks = program.all_ranks(8);
  ASSERT_EQ(ranks.size(), 8U) << program.wait(seconds(1)).err;
  std::this_thread::sleep_for(milliseconds(100));
  kill(ranks[5], SIGSTOP);
  std::this_thread::sleep_for(seconds(3));
  EXPECT_FALSE(program.over()) << "nobody waited for the stopped rank";
  kill(ranks[5], SIGCONT);
  expect_sane_times(program.wait(minutes(1)), program.folder() / "run");
}

TEST(Clocks, CaseD10ARankStoppedForGoodIsNamed) {
  RunningProgram program(job(1));
  const auto ranks = program.all_ranks(8);
  ASSERT_EQ(ranks.size(), 8U) << program.wait(seconds(1)).err;
  kill(ranks[5], SIGSTOP);
  const auto ended = program.wait(minutes(1));
  EXPECT_EQ(ended.exit_code, exit_peer_lost);
  EXPECT_TRUE(has(ended.err, "rank 5")) << ended.err;
  EXPECT_TRUE(RunningProgram::nothing_left(seconds(2)));
}

TEST(Clocks, CaseD10APauseOfTheWholeJobBeyondTheLimitIsNoSilence) {
  RunningProgram program(socket_job(2));
  ASSERT_EQ(program.all_ranks(8).size(), 8U) << program.wait(seconds(1)).err;
  std::this_thread::sleep_for(milliseconds(100));
  program.signal_all(SIGSTOP);
  std::this_thread::sleep_for(seconds(4));
  EXPECT_FALSE(program.over());
  program.signal_all(SIGCONT);
  expect_sane_times(program.wait(minutes(1)), program.folder() / "run");
}

}  // namespace
}  // namespace ringside
