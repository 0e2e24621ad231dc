// The verb `run`: one scenario from the first fork to the verdict.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runtime/traffic.hpp"
#include "scenarios/language.hpp"
#include "scenarios/settings.hpp"

namespace ringside {

// 100 MB, which viewers still open soon.
inline constexpr std::int64_t default_trace_limit = 100'000'000;

struct RunRequest {
  Settings settings;     // resolved: world size and degrees are filled in and agree
  std::string scenario;  // as the user named it
  std::size_t eager_limit = 1024;
  double pace = 0;  // wall seconds per modelled second; 0: full speed
  std::optional<LogLevel> log;
  std::int64_t trace_limit = default_trace_limit;  // bytes of trace.json; 0: none is written
  Language language = Language::en;
  std::optional<std::filesystem::path> out;  // the run folder; none: one is made under runs/
  std::chrono::nanoseconds timeout = std::chrono::seconds(30);  // of every wait
  bool json = false;
  bool verbose = false;
  bool quiet = false;  // nothing on stdout: the caller reads the run folder's summary.json
  std::vector<std::string> changed;  // keys that the command line changed in the scenario
};

// Reads what the scenario names, then runs it and prints its report (with json: one document) on
// stdout; returns an exit code of exit_codes.hpp. Of a failure it prints the text and the run
// folder on stderr; with json also the document, which then has error. When it throws it has
// printed nothing, and there is no run folder: the caller reports the error.
int run_verb(const RunRequest& asked);

}  // namespace ringside
