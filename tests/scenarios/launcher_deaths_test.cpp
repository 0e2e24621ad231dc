// D9: the launcher is killed; no rank lives on.
#include <gtest/gtest.h>

#include "tests/scenarios/refusal.hpp"
#include "tests/support/running_program.hpp"

namespace ringside {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds at_once(2);

class LauncherDeaths : public testing::TestWithParam<const char*> {};

const std::string job = "run dp/ring --log summary --ranks 8 ";
const std::string collectives = job + tiny_job + " --pace 1000 --set train.steps=40";

void kill_and_look(RunningProgram& program) {
  ASSERT_FALSE(program.over()) << "the job was too short to be killed";
  program.signal_launcher(SIGKILL);
  EXPECT_EQ(program.wait(at_once).exit_code, 128 + SIGKILL);
  EXPECT_TRUE(RunningProgram::nothing_left(at_once));
  const auto summary =
      nlohmann::json::parse(content(program.folder() / "runs/dp-ring-1/summary.json"));
  EXPECT_EQ(summary["verdict"], "lost");
  EXPECT_TRUE(has(summary["error"], "the run has not ended"));
}

// The state letter of a process, as ps shows it.
char state_of(int pid) {
  const auto stat = content("/proc/" + std::to_string(pid) + "/stat");
  const auto end_of_name = stat.rfind(") ");
  return end_of_name == std::string::npos ? '?' : stat[end_of_name + 2];
}

TEST_P(LauncherDeaths, CaseD9AtStartUp) {
  for (std::size_t started = 1; started <= 7; started += 2) {
    RunningProgram program(collectives + GetParam());
    ASSERT_TRUE(comes_true(seconds(60), [&] { return program.ranks().size() >= started; }));
    kill_and_look(program);
  }
}

TEST_P(LauncherDeaths, CaseD9WhileRanksCompute) {
  RunningProgram program(job + "--set model.hidden=256 --set train.batch=128 --set train.steps=1" +
                         GetParam());
  const auto ranks = program.all_ranks(8);
  ASSERT_EQ(ranks.size(), 8U) << program.wait(seconds(1)).err;
  EXPECT_TRUE(comes_true(seconds(10), [&] { return state_of(ranks.back()) == 'R'; }));
  kill_and_look(program);
}

// One rank is stopped, so that all others wait for it in a collective.
TEST_P(LauncherDeaths, CaseD9WhileRanksWaitInACollective) {
  RunningProgram program(collectives + GetParam());
  const auto ranks = program.all_ranks(8);
  ASSERT_EQ(ranks.size(), 8U) << program.wait(seconds(1)).err;
  std::this_thread::sleep_for(milliseconds(100));
  kill(ranks[3], SIGSTOP);
  EXPECT_TRUE(comes_true(seconds(10), [&] { return state_of(ranks[3]) == 'T'; }));
  std::this_thread::sleep_for(milliseconds(200));
  EXPECT_TRUE(comes_true(seconds(10), [&] { return state_of(ranks[4]) == 'S'; }));
  kill_and_look(program);
}

std::string wire_name(const testing::TestParamInfo<const char*>& wire) {
  return wire.index == 0 ? "InANode" : "BetweenNodes";
}

INSTANTIATE_TEST_SUITE_P(Wires, LauncherDeaths,
                         testing::Values("",
                                         " --set cluster.nodes=4 --set cluster.gpus_per_node=2"),
                         wire_name);

}  // namespace
}  // namespace ringside
