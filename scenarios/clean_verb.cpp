#include "scenarios/clean_verb.hpp"

#include <spdlog/fmt/fmt.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "runtime/files/file_lock.hpp"
#include "runtime/units.hpp"
#include "scenarios/exit_codes.hpp"
#include "scenarios/plural.hpp"
#include "scenarios/printed_json.hpp"
#include "scenarios/run_folders.hpp"
#include "scenarios/terminal.hpp"

namespace ringside {

namespace fs = std::filesystem;

namespace {

enum class Fate { removed, running, failed };

struct Outcome {
  KeptRun run;
  Fate fate = Fate::removed;
  std::string reason{};  // of a failure
};

// Under the lock that a run holds while it writes. File by file, so that what came in meanwhile
// stays, and with it the folder.
Outcome remove(const KeptRun& run, bool dry_run) {
  try {
    const auto lock = FileLock::take(run.folder);
    if (!lock) {
      return {run, Fate::running};
    }
    if (!dry_run) {
      for (const auto& entry : fs::directory_iterator(run.folder)) {
        if (is_of_run(entry.path().filename().string())) {
          fs::remove(entry.path());
        }
      }
      fs::remove(run.folder);
    }
  } catch (const std::system_error& error) {
    return {run, Fate::failed, error.code().message()};
  }
  return {run, Fate::removed};
}

std::string size_text(std::uintmax_t bytes) {
  return to_string(Bytes{static_cast<std::int64_t>(bytes)});
}

struct Cleaning {
  std::vector<Outcome> outcomes;
  std::size_t removed = 0;
  std::uintmax_t bytes = 0;
  bool failed = false;
};

Cleaning clean(const std::vector<KeptRun>& runs, const CleanRequest& request) {
  Cleaning done;
  const auto keep = static_cast<std::size_t>(request.keep);
  for (std::size_t i = 0; i + keep < runs.size(); ++i) {
    auto outcome = remove(runs[i], request.dry_run);
    done.removed += outcome.fate == Fate::removed ? 1 : 0;
    done.bytes += outcome.fate == Fate::removed ? outcome.run.bytes : 0;
    done.failed |= outcome.fate == Fate::failed;
    done.outcomes.push_back(std::move(outcome));
  }
  return done;
}

std::string text_of(const Cleaning& done, const RunFolders& found, const CleanRequest& request) {
  std::string text;
  for (const auto& [run, fate, reason] : done.outcomes) {
    const auto* word = fate == Fate::running  ? "is going on"
                       : fate == Fate::failed ? "stays"
                       : request.dry_run      ? "would go"
                                              : "removed";
    text += fmt::format("  {:12} {:>9}  {}\n", word, size_text(run.bytes), run.folder.string());
  }
  for (const auto& other : found.others) {
    text += fmt::format("  {:12} {:>9}  {}\n", "no run's", "", other.string());
  }
  return text + fmt::format("{} of {} {}, {}; {} under ./runs {}\n", done.removed,
                            plural(static_cast<std::int64_t>(found.runs.size()), "run"),
                            request.dry_run ? "would go" : "removed", size_text(done.bytes),
                            found.runs.size() - done.removed,
                            request.dry_run ? "would stay" : "stay");
}

nlohmann::ordered_json document_of(const Cleaning& done, const RunFolders& found,
                                   const CleanRequest& request) {
  nlohmann::ordered_json document{{"verb", "clean"},
                                  {"verdict", done.failed ? "refused" : "pass"},
                                  {"dry_run", request.dry_run},
                                  {"removed", nlohmann::json::array()},
                                  {"running", nlohmann::json::array()},
                                  {"failed", nlohmann::json::array()},
                                  {"others", nlohmann::json::array()}};
  for (const auto& [run, fate, reason] : done.outcomes) {
    nlohmann::ordered_json row{{"folder", run.folder.string()}, {"bytes", run.bytes}};
    if (fate == Fate::failed) {
      row["reason"] = reason;
    }
    document[fate == Fate::removed   ? "removed"
             : fate == Fate::running ? "running"
                                     : "failed"]
        .push_back(std::move(row));
  }
  for (const auto& other : found.others) {
    document["others"].push_back(other.string());
  }
  document["bytes"] = done.bytes;
  document["kept"] = found.runs.size() - done.removed;
  return document;
}

}  // namespace

int clean_verb(const CleanRequest& request) {
  const auto found = run_folders();
  const auto done = clean(found.runs, request);
  if (request.json) {
    std::cout << printed_json(document_of(done, found, request));
  } else {
    std::cout << printable(text_of(done, found, request));
  }
  for (const auto& [run, fate, reason] : done.outcomes) {
    if (fate == Fate::failed) {
      std::cerr << "ringside: " << printable(run.folder.string()) << ": " << reason << '\n';
    }
  }
  return done.failed ? exit_bad_use : exit_ok;
}

}  // namespace ringside
