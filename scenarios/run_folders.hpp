// The run folders under ./runs: which there are, which is the last, and how old ones go.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ringside {

// The files that a run leaves, and no others.
inline constexpr std::array<std::string_view, 4> run_files{"scenario.toml", "traffic.jsonl",
                                                           "trace.json", "summary.json"};

// One of them, or what a killed run left beside one while it wrote it.
bool is_of_run(const std::string& name);

struct KeptRun {
  std::filesystem::path folder;
  std::filesystem::file_time_type began{};  // when its scenario.toml was written
  std::uintmax_t bytes = 0;                 // of all its files
};

// What stands directly under ./runs.
struct RunFolders {
  std::vector<KeptRun> runs;  // that a run of ours made, oldest first
  std::vector<std::filesystem::path>
      others;  // that stay: links, checkpoints, anything with more in it
};

// A run's folder has a scenario.toml and a summary.json of ours, no file but those that a run
// leaves, and neither it nor a file in it is a link.
RunFolders run_folders();

// The last run under ./runs. Throws BadUse when there is none.
std::filesystem::path latest_run();

}  // namespace ringside
