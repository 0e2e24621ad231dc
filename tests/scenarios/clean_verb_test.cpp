// `ringside clean`: old runs go, and nothing else.
#include <gtest/gtest.h>
#include <sys/file.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>

#include "runtime/files/file_lock.hpp"
#include "tests/support/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;

class Clean : public testing::Test {
 protected:
  // A folder as a run leaves it, begun `age` minutes ago.
  fs::path run(const std::string& name, int age, const fs::path& below = {}) {
    const auto path = (below.empty() ? folder / "runs" : below) / name;
    fs::create_directories(path);
    std::ofstream(path / "scenario.toml") << "name = \"dp/ring\"\n";
    std::ofstream(path / "summary.json")
        << R"({"verb": "run", "scenario": "dp/ring", "verdict": "pass", "run_folder": "x"})";
    std::ofstream(path / "traffic.jsonl") << "{}\n";
    fs::last_write_time(path / "scenario.toml",
                        fs::file_time_type::clock::now() - std::chrono::minutes(age));
    return path;
  }

  std::set<std::string> left() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder / "runs")) {
      names.insert(entry.path().filename());
    }
    return names;
  }

  Ended clean(const std::string& flags = {}) const {
    return run_program("clean " + flags, {}, folder.path());
  }

  TemporaryFolder folder;
};

TEST_F(Clean, TheLastTenRunsStay) {
  for (int i = 0; i < 13; ++i) {
    run("dp-ring-" + std::to_string(i), i);
  }
  const auto dry = clean("--dry-run");
  EXPECT_EQ(dry.exit_code, 0) << dry.err;
  EXPECT_NE(dry.out.find("would go"), std::string::npos) << dry.out;
  EXPECT_EQ(left().size(), 13U);
  const auto document = clean("--json").document();
  EXPECT_EQ(document["removed"].size(), 3U) << document;
  EXPECT_EQ(document["kept"], 10);
  EXPECT_EQ(left().size(), 10U);
  EXPECT_TRUE(left().contains("dp-ring-9"));
  EXPECT_FALSE(left().contains("dp-ring-10"));
}

TEST_F(Clean, WhatIsNoRunsFolderStays) {
  const auto outside = run("run", 100, folder / "elsewhere");
  run("plain", 100);
  fs::create_directory_symlink(outside, folder / "runs" / "link");
  std::ofstream(run("with-notes", 100) / "notes.txt") << "mine";
  fs::create_directories(run("with-checkpoint", 100) / "step-3");
  const auto linked = run("with-link", 100);
  fs::remove(linked / "traffic.jsonl");
  fs::create_symlink(outside / "traffic.jsonl", linked / "traffic.jsonl");
  std::ofstream(run("other-program", 100) / "summary.json") << R"({"verb": "walk"})";
  std::ofstream(run("no-document", 100) / "summary.json") << "{";
  fs::remove(run("no-scenario", 100) / "scenario.toml");
  std::ofstream(folder / "runs" / "file") << "mine";
  const auto ended = clean("--keep 0");
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(left(), (std::set<std::string>{"link", "with-notes", "with-checkpoint", "with-link",
                                           "other-program", "no-document", "no-scenario", "file"}))
      << ended.out;
  EXPECT_TRUE(fs::exists(outside / "summary.json"));
  EXPECT_TRUE(fs::exists(outside / "traffic.jsonl"));
}

TEST_F(Clean, ARunThatIsGoingOnStays) {
  const auto path = run("going-on", 100);
  {
    const auto lock = FileLock::take(path);
    ASSERT_TRUE(lock);
    EXPECT_NE(clean("--keep 0").out.find("is going on"), std::string::npos);
    EXPECT_TRUE(left().contains("going-on"));
  }
  clean("--keep 0");
  EXPECT_FALSE(left().contains("going-on"));
}

TEST_F(Clean, WithoutAnyRunThereIsNothingToDo) {
  const auto ended = clean();
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_NE(ended.out.find("0 of 0 runs"), std::string::npos) << ended.out;
  EXPECT_EQ(run_program("log latest", {}, folder.path()).exit_code, 2);
}

TEST_F(Clean, LatestIsTheRunThatBeganLast) {
  run("dp-ring-9", 100);
  const auto last = run("dp-ring-10", 1);
  fs::remove(last / "traffic.jsonl");
  fs::copy_file(folder / "runs" / "dp-ring-9" / "summary.json", last / "summary.json",
                fs::copy_options::overwrite_existing);
  const auto ended = run_program("log latest", {}, folder.path());
  EXPECT_NE(ended.err.find("dp-ring-10"), std::string::npos) << ended.err;
}

}  // namespace
}  // namespace ringside
