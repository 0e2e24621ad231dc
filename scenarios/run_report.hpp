// What a run shows: its verdict table, its traffic beside the formula, its memory and its time; as
// text for a reader and as one JSON document for a program.
#pragma once

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "runtime/launch.hpp"
#include "runtime/traffic.hpp"
#include "scenarios/check.hpp"
#include "scenarios/divergence.hpp"
#include "scenarios/language.hpp"
#include "scenarios/settings.hpp"

namespace ringside {

// Bytes of one operation of one rank, counted by the run and computed by the formula.
struct TrafficComparison {
  int rank = 0;
  std::string operation;
  std::string label;  // "gradients", "weights"
  std::string formula;
  std::int64_t sent = 0;
  std::int64_t sent_formula = 0;
  std::int64_t received = 0;
  std::optional<std::int64_t> received_formula{};  // none: no formula is known
};

// Where the run stood in its training and its data. Sample i of step s is number s * batch + i,
// whichever rank learns it.
struct DataPosition {
  std::int64_t first_step = 0;
  std::int64_t first_sample = 0;
  std::int64_t samples = 0;
  std::string resumed{};  // the checkpoint that it went on from; empty: none
  std::string saved{};    // the last one that it wrote
};

struct RunReport {
  Settings settings;
  std::string headline;   // what ran, in one line
  std::string warning{};  // what is to be said of such a training; empty: nothing
  std::string first_sample{};
  DataPosition data{};
  std::vector<double> losses{};
  Checks checks{};
  std::vector<TrafficComparison> traffic{};
  std::optional<Divergence> divergence{};  // of a run that failed its checks
  JobResult job{};                         // the job that was logged
  std::filesystem::path folder{};
  std::vector<std::string> changed{};       // what the command line changed in the scenario
  LogLevel log = LogLevel::full;            // what was kept of the traffic
  std::string no_trace{};                   // why there is no trace.json, though it was wanted
  std::string unwritten{};                  // a file of the run that could not be written, and why
  Language language = Language::en;         // of the lesson
  std::chrono::nanoseconds command_wall{};  // of the whole command: references and checks too
};

std::string report_text(const RunReport& report);
nlohmann::json report_json(const RunReport& report);

}  // namespace ringside
