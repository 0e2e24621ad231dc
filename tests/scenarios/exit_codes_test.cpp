// Every verb ends with the code of the table in docs/formats.md, whatever happens to it.
#include "scenarios/exit_codes.hpp"

#include <gtest/gtest.h>

#include "tests/scenarios/refusal.hpp"
#include "tests/support/running_program.hpp"

namespace ringside {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

const std::string tiny_ring = "run dp/ring --ranks 8 --set 'checks.run=[\"traffic\"]'" + tiny_job;

TEST(VerbExitCodes, OkIsZero) {
  const TemporaryFolder folder;
  EXPECT_EQ(run_program(tiny_ring + " --out ran", "", folder.path()).exit_code, exit_ok);
  for (const std::string line :
       {"list", "log ran", "collective all_reduce -b 1K -e 1K -g 2", "prove all_reduce --ranks 2",
        "explain all_reduce --ranks 2", "schedule 1f1b --stages 2 --microbatches 4",
        "mesh --ranks 8 --tp 2", "figures DP --formulas", "tour --list", "parity --ranks 2"}) {
    const auto ended = run_program(line + " --json", "", folder.path());
    EXPECT_EQ(ended.exit_code, exit_ok) << line << ended.err;
  }
}

TEST(VerbExitCodes, BadUseIsTwo) {
  for (const std::string verb : {"run", "list", "log", "collective", "prove", "explain", "schedule",
                                 "mesh", "parity", "figures", "tour", "clean"}) {
    EXPECT_EQ(run_program(verb + " --no-such-flag").exit_code, exit_bad_use) << verb;
  }
}

TEST(VerbExitCodes, AFailedCheckIsOne) {
  EXPECT_EQ(run_program(tiny_ring + " --set checks.expect=oom").exit_code, exit_check_failed);
}

TEST(VerbExitCodes, OutOfDeviceMemoryIsFive) {
  for (const std::string& line :
       {tiny_ring + " --set 'cluster.capacity=\"1 kB\"'",
        std::string("collective all_reduce -b 1M -e 1M --set 'cluster.capacity=\"1 kB\"'")}) {
    const auto ended = run_program(line + " --json");
    EXPECT_EQ(ended.exit_code, exit_out_of_memory) << line << ended.err;
    EXPECT_EQ(ended.document()["verdict"], "oom") << line;
  }
}

// Kills the first rank that it sees; a rank that had returned already is none that was lost.
class LostRanks : public testing::TestWithParam<const char*> {};

TEST_P(LostRanks, IsThree) {
  Ended ended;
  for (int attempt = 0; attempt < 20 && ended.exit_code != exit_peer_lost; ++attempt) {
    RunningProgram program(std::string(GetParam()) + " --json");
    ASSERT_TRUE(
        comes_true(seconds(60), [&] { return !program.ranks().empty() || program.over(); }));
    for (const int rank : program.ranks()) {
      kill(rank, SIGKILL);
    }
    ended = program.wait(minutes(1));
  }
  EXPECT_EQ(ended.exit_code, exit_peer_lost) << ended.err;
  EXPECT_TRUE(has(ended.err + ended.out, "killed by SIGKILL")) << ended.err << ended.out;
  EXPECT_EQ(ended.document()["verdict"], "lost") << ended.out;
}

std::string verb_of(const testing::TestParamInfo<const char*>& line) {
  const std::string words = line.param;
  return words.substr(0, words.find(' '));
}

INSTANTIATE_TEST_SUITE_P(Verbs, LostRanks,
                         testing::Values("run dp/ring", "collective all_reduce -b 32M -e 32M",
                                         "prove all_reduce --ranks 4-8",
                                         "explain all_reduce --ranks 8", "parity --ranks 2",
                                         "figures DP"),
                         verb_of);

// A stopped rank ends parity too, after its --timeout.
TEST(VerbExitCodes, AStoppedRankOfParityIsThreeAfterItsTimeout) {
  RunningProgram program("parity --ranks 2 --timeout 0.5 --json");
  ASSERT_EQ(program.all_ranks(2).size(), 2U);
  kill(program.ranks().front(), SIGSTOP);
  const auto ended = program.wait(seconds(15));
  EXPECT_EQ(ended.exit_code, exit_peer_lost) << ended.err;
}

// ---- what a run that ends early leaves
// ------------------------------------------------------------

TEST(EarlyEnd, AKilledRankLeavesTheTrafficOfTheOthers) {
  RunningProgram program("run dp/ring --out ran --json --pace 1000 --ranks 8" + tiny_job +
                         " --set train.steps=40");
  const auto ranks = program.all_ranks(8);
  ASSERT_EQ(ranks.size(), 8U);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  kill(ranks[2], SIGKILL);
  const auto ended = program.wait(minutes(1));
  ASSERT_EQ(ended.exit_code, exit_peer_lost) << ended.err;
  const auto document = ended.document();
  EXPECT_EQ(document["verdict"], "lost");
  EXPECT_EQ(document["traffic_log"]["ranks_without"], nlohmann::json({2}));
  EXPECT_GT(document["traffic_log"]["messages"], 0);
  EXPECT_TRUE(has(ended.err, "traffic up to then: traffic.jsonl, ")) << ended.err;
  EXPECT_TRUE(has(ended.err, "without what rank 2 had received")) << ended.err;
  const auto folder = program.folder() / "ran";
  EXPECT_EQ(nlohmann::json::parse(content(folder / "summary.json")), document);
  const auto lines = content(folder / "traffic.jsonl");
  EXPECT_EQ(std::ranges::count(lines, '\n'), document["traffic_log"]["messages"]);
  EXPECT_TRUE(std::filesystem::exists(folder / "trace.json"));
  EXPECT_EQ(run_program("log " + folder.string()).exit_code, exit_ok);
}

}  // namespace
}  // namespace ringside
