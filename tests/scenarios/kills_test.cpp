// A hundred random kills, of a rank or of the launcher, inside a node and between nodes: every job
// ends at once, names the rank that was killed, and leaves nothing.
#include <gtest/gtest.h>

#include <random>
#include <regex>
#include <set>

#include "scenarios/exit_codes.hpp"
#include "tests/scenarios/refusal.hpp"
#include "tests/support/running_program.hpp"

namespace ringside {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kills = 25;  // of each kind
constexpr int ranks = 8;
constexpr milliseconds at_once(2000);
constexpr int longest_life_us = 250'000;  // of a job that would last seconds

enum class Victim : std::uint8_t { rank, launcher };

struct KillPlan {
  std::string name;
  Victim victim = Victim::rank;
  std::string nodes{};  // flags
};

void PrintTo(const KillPlan& plan, std::ostream* out) {
  *out << plan.name;
}

// The inodes of the sockets that a process holds open.
std::set<std::string> sockets_of(int pid) {
  std::set<std::string> inodes;
  std::error_code gone;
  const std::regex socket("socket:\\[([0-9]+)\\]");
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd", gone)) {
    const auto link = std::filesystem::read_symlink(entry.path(), gone).string();
    if (std::smatch match; std::regex_match(link, match, socket)) {
      inodes.insert(match[1]);
    }
  }
  return inodes;
}

// Those of `inodes` that the system still knows as TCP sockets.
std::set<std::string> still_open(const std::set<std::string>& inodes) {
  std::set<std::string> open;
  std::istringstream table(content("/proc/net/tcp"));
  for (std::string line; std::getline(table, line);) {
    std::istringstream fields(line);
    std::string field;
    for (int column = 0; column <= 9; ++column) {
      fields >> field;
    }
    if (inodes.contains(field)) {
      open.insert(field);
    }
  }
  return open;
}

class Kills : public testing::TestWithParam<KillPlan> {
 protected:
  // One job and one kill after `life`.
  void kill_one(int index, microseconds life);

  std::size_t sockets_seen = 0;
};

const std::string long_job = "run dp/ring --json --log summary --ranks 8 --pace 2000 --timeout 20" +
                             tiny_job + " --set train.steps=40 --set train.lr=0.001";

void Kills::kill_one(int index, microseconds life) {
  RunningProgram program(long_job + GetParam().nodes);
  const auto pids = program.all_ranks(ranks);
  ASSERT_EQ(pids.size(), static_cast<std::size_t>(ranks)) << program.wait(seconds(1)).err;
  std::this_thread::sleep_for(life);
  const int victim = pids[static_cast<std::size_t>(index)];
  const auto sockets = sockets_of(victim);
  sockets_seen += still_open(sockets).size();
  ASSERT_FALSE(program.over()) << "the job was too short to be killed";
  kill(GetParam().victim == Victim::rank ? victim : program.pid(), SIGKILL);
  const auto ended = program.wait(at_once);
  EXPECT_TRUE(RunningProgram::nothing_left(at_once)) << "processes are left";
  EXPECT_EQ(still_open(sockets), std::set<std::string>{}) << "sockets are left";
  if (GetParam().victim == Victim::launcher) {
    EXPECT_EQ(ended.exit_code, 128 + SIGKILL);
    return;
  }
  EXPECT_EQ(ended.exit_code, exit_peer_lost) << ended.out;
  const std::string named = "rank " + std::to_string(index) + " was killed by SIGKILL";
  EXPECT_TRUE(ended.err.starts_with("ringside: " + named)) << ended.err;
  EXPECT_EQ(ended.document()["verdict"], "lost");
  EXPECT_TRUE(std::string(ended.document()["error"]).starts_with(named));
}

TEST_P(Kills, EndTheJobAndLeaveNothing) {
  const auto shared_before = named_segments();
  const auto seed = std::random_device{}();
  std::mt19937 random(seed);
  for (int i = 0; i < kills && !HasFailure(); ++i) {
    const int index = static_cast<int>(random() % ranks);
    const microseconds life(random() % longest_life_us);
    SCOPED_TRACE("kill " + std::to_string(i) + " of seed " + std::to_string(seed) + ": rank " +
                 std::to_string(index) + " after " + std::to_string(life.count()) + " us");
    kill_one(index, life);
  }
  EXPECT_EQ(named_segments(), shared_before);
  EXPECT_EQ(sockets_seen > 0, !GetParam().nodes.empty()) << "of " << kills << " jobs";
}

const std::string sockets = " --set cluster.nodes=4 --set cluster.gpus_per_node=2";

std::string plan_name(const testing::TestParamInfo<KillPlan>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(
    Random, Kills,
    testing::Values(
        KillPlan{.name = "RankInANode"}, KillPlan{.name = "RankBetweenNodes", .nodes = sockets},
        KillPlan{.name = "LauncherInANode", .victim = Victim::launcher},
        KillPlan{.name = "LauncherBetweenNodes", .victim = Victim::launcher, .nodes = sockets}),
    plan_name);

}  // namespace
}  // namespace ringside
