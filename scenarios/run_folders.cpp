#include "scenarios/run_folders.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "runtime/errors.hpp"
#include "runtime/files/json_file.hpp"
#include "runtime/files/leftovers.hpp"
#include "runtime/files/place.hpp"
#include "scenarios/traffic_summary.hpp"

namespace ringside {

namespace fs = std::filesystem;

bool is_of_run(const std::string& name) {
  return std::ranges::count(run_files, name) > 0 ||
         std::ranges::count(run_files, place_of_leftover(name, ".tmp")) > 0;
}

namespace {

// A program that was not ours would hardly write both.
bool says_run(const fs::path& summary) {
  nlohmann::json document;
  try {
    document = read_json(summary, "a summary.json", most_summary_bytes);
  } catch (const BadUse&) {
    return false;
  }
  return document.is_object() && document.value("verb", "") == "run" &&
         document.contains("scenario") && document.contains("run_folder");
}

std::optional<KeptRun> run_in(const fs::path& folder) {
  KeptRun run{.folder = folder};
  std::size_t known = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const auto name = entry.path().filename().string();
    if (entry.is_symlink() || !entry.is_regular_file() || !is_of_run(name)) {
      return std::nullopt;
    }
    run.bytes += entry.file_size();
    known += name == "scenario.toml" || name == "summary.json" ? 1U : 0U;
  }
  if (known != 2 || !says_run(folder / "summary.json")) {
    return std::nullopt;
  }
  run.began = fs::last_write_time(folder / "scenario.toml");
  return run;
}

}  // namespace

RunFolders run_folders() {
  RunFolders found;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator("runs", none)) {
    std::optional<KeptRun> run;
    try {
      run = entry.is_symlink() || !entry.is_directory() ? std::nullopt : run_in(entry.path());
    } catch (const fs::filesystem_error&) {
      // Another process removes it, or it may not be read: it stays.
    }
    if (run) {
      found.runs.push_back(std::move(*run));
    } else {
      found.others.push_back(entry.path());
    }
  }
  std::ranges::sort(found.runs, {}, [](const KeptRun& r) { return std::pair(r.began, r.folder); });
  std::ranges::sort(found.others);
  return found;
}

fs::path latest_run() {
  const auto runs = run_folders().runs;
  if (runs.empty()) {
    throw BadUse("latest: there is no run under " + absolute_place("runs").string() +
                 "; name a run's folder, as `ringside run` prints it");
  }
  return runs.back().folder;
}

}  // namespace ringside
