#include "scenarios/run_folder.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <string_view>

#include "runtime/errors.hpp"
#include "runtime/files/place.hpp"
#include "runtime/files/text_file.hpp"
#include "runtime/trace.hpp"
#include "runtime/traffic_log.hpp"
#include "scenarios/owner.hpp"
#include "scenarios/printed_json.hpp"
#include "scenarios/run_folders.hpp"
#include "scenarios/scenario_file.hpp"

namespace ringside {

namespace fs = std::filesystem;

namespace {

constexpr int most_runs = 100'000;

[[noreturn]] void refuse(const fs::path& folder, const std::string& reason) {
  throw BadUse("cannot use the run folder \"" + folder.string() + "\": " + reason +
               ". Name another with --out");
}

[[noreturn]] void refuse(const fs::path& folder, const std::error_code& error) {
  refuse(folder, error == std::errc::permission_denied ? error.message() + ": " + owner_text(folder)
                                                       : error.message());
}

bool make(const fs::path& folder) {
  std::error_code error;
  const bool made = fs::create_directory(folder, error);
  if (error) {
    refuse(folder, error);
  }
  if (made) {
    fs::permissions(folder, fs::perms::owner_all, error);
  }
  return made;
}

FileLock lock(const fs::path& folder) {
  try {
    if (auto taken = FileLock::take(folder)) {
      return std::move(*taken);
    }
  } catch (const std::system_error& error) {
    refuse(folder, error.code());
  }
  refuse(folder, "another run is writing it");
}

// An earlier run's files are replaced; anything else there is somebody's.
RunFolder reuse(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  if (error) {
    refuse(folder, error);
  }
  make(folder);
  RunFolder locked{folder, lock(folder)};
  fs::directory_iterator entries(folder, error);
  if (error) {
    refuse(folder, error);
  }
  std::vector<fs::path> files;
  for (const auto& entry : entries) {
    files.push_back(entry.path());
    if (const auto name = files.back().filename().string(); !is_of_run(name)) {
      refuse(folder, "it holds \"" + name + "\", which is no file of a run");
    }
  }
  for (const auto& file : files) {
    fs::remove(file, error);
    if (error) {
      refuse(folder, error);
    }
  }
  return locked;
}

}  // namespace

RunFolder make_run_folder(const std::optional<fs::path>& out, const std::string& scenario) {
  if (out) {
    return reuse(absolute_place(*out));
  }
  std::string name = scenario;
  std::replace(name.begin(), name.end(), '/', '-');
  const fs::path runs = absolute_place("runs");
  make(runs);
  for (int number = 1; number < most_runs; ++number) {
    const fs::path folder = runs / (name + "-" + std::to_string(number));
    std::error_code ignored;
    if (!fs::exists(folder, ignored) && make(folder)) {
      return {folder, lock(folder)};
    }
  }
  refuse(runs, "it holds " + std::to_string(most_runs) + " runs of this scenario");
}

void write_scenario(const fs::path& folder, const Settings& settings) {
  TextFile scenario(folder / "scenario.toml");
  scenario.write(write_resolved(settings));
  scenario.close();
}

namespace {

std::string write_log_and_trace(const fs::path& folder, const std::vector<RankReport>& reports,
                                std::int64_t trace_limit) {
  write_traffic_log(folder / "traffic.jsonl", reports);
  if (trace_limit == 0) {
    return "";
  }
  if (const auto size = trace_size(reports); size > trace_limit) {
    const auto mega = [](std::int64_t bytes) { return (bytes + 999'999) / 1'000'000; };
    return fmt::format(
        "not written: it would be about {} MB, above {} MB; to have it: --trace \"{} MB\"",
        mega(size), mega(trace_limit), mega(size));
  }
  write_trace(folder / "trace.json", reports);
  return "";
}

}  // namespace

WrittenMessages write_messages(const fs::path& folder, const JobResult& job,
                               std::int64_t trace_limit) {
  std::vector<RankReport> reports;
  for (const auto& rank : job.ranks) {
    reports.push_back(rank.report);
  }
  try {
    return {.no_trace = write_log_and_trace(folder, reports, trace_limit)};
  } catch (const BadUse& refusal) {
    return {.unwritten = refusal.what()};
  }
}

void write_summary(const fs::path& folder, const nlohmann::json& summary) {
  TextFile file(folder / "summary.json");
  file.write(printed_json(summary));
  file.close();
}

}  // namespace ringside
