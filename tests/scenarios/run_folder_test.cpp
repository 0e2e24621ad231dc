// What a run leaves behind, and the folders that it refuses.
#include <gtest/gtest.h>

#include <set>

#include "runtime/files/file_lock.hpp"
#include "scenarios/exit_codes.hpp"
#include "tests/scenarios/refusal.hpp"
#include "tests/scenarios/traffic_lines.hpp"
#include "tests/support/program.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

const std::string ring = "run dp/ring" + tiny_job;
const Names all_files{"scenario.toml", "summary.json", "trace.json", "traffic.jsonl"};

Names names_in(const fs::path& folder) {
  Names names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.insert(entry.path().filename().string());
  }
  return names;
}

TEST(RunFolder, IsRefusedWhileAnotherRunWritesIt) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "run");
  {
    const auto held = FileLock::take(folder / "run");
    ASSERT_TRUE(held);
    const auto ended = run_program(ring + " --out run", "", folder.path());
    EXPECT_EQ(ended.exit_code, exit_bad_use);
    EXPECT_TRUE(has(ended.err, "another run is writing it")) << ended.err;
    EXPECT_EQ(names_in(folder / "run"), Names{});
  }
  EXPECT_EQ(run_program(ring + " --out run", "", folder.path()).exit_code, exit_ok);
}

TEST(RunFolder, HoldsWhatStdoutSaid) {
  const TemporaryFolder folder;
  const auto ended = run_program(ring + " --json --out run", "", folder.path());
  ASSERT_EQ(ended.exit_code, exit_ok) << ended.err;
  EXPECT_EQ(names_in(folder / "run"), all_files);
  EXPECT_EQ(content(folder / "run/summary.json"), ended.out);
  EXPECT_EQ(ended.document()["run_folder"], (folder / "run").string());
  for (const auto& entry : fs::directory_iterator(folder / "run")) {
    EXPECT_EQ(entry.status().permissions(), fs::perms(0600)) << entry.path();
  }
  EXPECT_EQ(fs::status(folder / "run").permissions(), fs::perms(0700));
}

TEST(RunFolder, ItsScenarioRunsAgainWithTheSameTraffic) {
  const TemporaryFolder folder;
  const std::string nodes = " --set cluster.nodes=3 --set cluster.gpus_per_node=3 --ranks 8";
  for (const auto& shape : {std::string(), nodes}) {
    ASSERT_EQ(run_program(ring + shape + " --out first", "", folder.path()).exit_code, exit_ok);
    const auto again = run_program("run first/scenario.toml --out second", "", folder.path());
    ASSERT_EQ(again.exit_code, exit_ok) << again.err;
    EXPECT_EQ(content(folder / "second/scenario.toml"), content(folder / "first/scenario.toml"));
    const auto traffic = modelled_traffic(folder / "first/traffic.jsonl");
    EXPECT_FALSE(traffic.empty());
    EXPECT_TRUE(modelled_traffic(folder / "second/traffic.jsonl") == traffic);
  }
  ASSERT_EQ(
      run_program(ring + " --seed 2 --set train.batch=32 --out other", "", folder.path()).exit_code,
      exit_ok);
  EXPECT_FALSE(modelled_traffic(folder / "other/traffic.jsonl") ==
               modelled_traffic(folder / "first/traffic.jsonl"))
      << "no difference can be seen";
}

TEST(RunFolder, KeepsOfTheMessagesWhatIsAskedFor) {
  const TemporaryFolder folder;
  const auto left_by = [&](const std::string& flags) {
    const auto ended = run_program(ring + " --out run" + flags, "", folder.path());
    EXPECT_EQ(ended.exit_code, exit_ok) << ended.err;
    return names_in(folder / "run");
  };
  EXPECT_EQ(left_by(""), all_files);
  EXPECT_EQ(left_by(" --trace off"), (Names{"scenario.toml", "summary.json", "traffic.jsonl"}));
  EXPECT_EQ(left_by(" --log summary"), (Names{"scenario.toml", "summary.json"}));
  EXPECT_NE(nlohmann::json::parse(content(folder / "run/summary.json"))["traffic"][0]["sums"],
            nlohmann::json::array());
  EXPECT_EQ(left_by(" --log none"), (Names{"scenario.toml", "summary.json"}));
  EXPECT_EQ(left_by(" --log full"), all_files);
}

TEST(RunFolder, IsANewOneForEveryRun) {
  const TemporaryFolder folder;
  for (int run = 0; run < 3; ++run) {
    ASSERT_EQ(run_program(ring, "", folder.path()).exit_code, exit_ok);
  }
  EXPECT_EQ(names_in(folder / "runs"), (Names{"dp-ring-1", "dp-ring-2", "dp-ring-3"}));
}

TEST(RunFolder, RefusesAFolderOfSomethingElse) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "mine/sub");
  std::ofstream(folder / "mine/letter.txt") << "keep me";
  fs::create_directories(folder / "deep/traffic.jsonl/full");
  std::ofstream(folder / "file") << "a file";
  const auto refused = [&](const std::string& out, const std::string& reason) {
    const auto ended = run_program(ring + " --json --out " + out, "", folder.path());
    EXPECT_EQ(ended.exit_code, exit_bad_use) << out;
    EXPECT_EQ(ended.document()["verdict"], "refused") << out;
    EXPECT_TRUE(has(ended.err, reason)) << ended.err;
  };
  refused("mine", "which is no file of a run. Name another with --out");
  refused("deep", "\"" + (folder / "deep").string() + "\"");
  refused("file", "--out file: must be a folder");
  refused("file/below", "file/below");
  refused("/proc/run", "/proc/run");
  refused("''", "--out");
  EXPECT_EQ(content(folder / "mine/letter.txt"), "keep me");
  EXPECT_EQ(names_in(folder / "mine"), (Names{"letter.txt", "sub"}));
}

}  // namespace
}  // namespace ringside
