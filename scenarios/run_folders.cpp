#include "scenarios/run_folders.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "runtime/errors.hpp"

namespace ringside {

namespace fs = std::filesystem;

namespace {

// A program that was not ours would hardly write both.
bool says_run(const fs::path& summary) {
  std::ifstream file(summary);
  const auto document = nlohmann::json::parse(file, nullptr, false);
  return document.is_object() && document.value("verb", "") == "run" &&
         document.contains("scenario") && document.contains("run_folder");
}

std::optional<KeptRun> run_in(const fs::path& folder) {
  KeptRun run{.folder = folder};
  std::size_t known = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const auto name = entry.path().filename().string();
    if (entry.is_symlink() || !entry.is_regular_file() ||
        std::ranges::find(run_files, name) == run_files.end()) {
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
    throw BadUse("latest: there is no run under " + fs::absolute("runs").string() +
                 "; name a run's folder, as `ringside run` prints it");
  }
  return runs.back().folder;
}

}  // namespace ringside
