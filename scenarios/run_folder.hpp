// The folder that a run leaves: what ran, its traffic, its trace, its summary.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "runtime/files/file_lock.hpp"
#include "runtime/launch.hpp"
#include "scenarios/settings.hpp"

namespace ringside {

struct RunFolder {
  std::filesystem::path path;
  FileLock lock;  // while the run writes
};

// Makes the folder, readable by its owner alone. Without `out`: a new one,
// runs/<scenario>-<number>. Throws BadUse with the path, the reason and, where it is a matter of
// permission, the owner; a folder that holds other files, or that another run is
// writing, is refused. The files of an earlier run are replaced.
RunFolder make_run_folder(const std::optional<std::filesystem::path>& out,
                          const std::string& scenario);

// What is about to run: scenario.toml is there however the run ends.
void write_scenario(const std::filesystem::path& folder, const Settings& settings);

struct WrittenMessages {
  std::string no_trace{};   // why there is no trace although it was wanted; empty: there is
  std::string unwritten{};  // "cannot write PATH: why"; empty: it is written
};

// Of a job that kept its messages: traffic.jsonl and, unless it would be larger than `trace_limit`
// (0: not wanted), trace.json. What cannot be written, as on a full disk, is said in the result:
// the job has run, and goes on to its report.
WrittenMessages write_messages(const std::filesystem::path& folder, const JobResult& job,
                               std::int64_t trace_limit);

void write_summary(const std::filesystem::path& folder, const nlohmann::json& summary);

}  // namespace ringside
