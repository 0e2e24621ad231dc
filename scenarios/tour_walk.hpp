// One run of the tour, judged: what its document shows beside what the lesson claims.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "scenarios/run_verb.hpp"
#include "scenarios/tour_lessons.hpp"

namespace ringside {

// Bytes of one training step, from the document of a run; the broadcast of first weights, which
// comes once, is left out.
struct StepTraffic {
  double sent = 0;                          // by a rank, the mean
  double received = 0;                      // by the rank that receives most
  std::map<std::string, double> sent_in{};  // by group ("dp", "tp"), of a rank, the mean
};

// `steps`: that the run trained. Nothing of a run that ended before its first step.
StepTraffic step_traffic(const nlohmann::json& document, int steps);

struct JudgedClaim {
  TourClaim claim;
  std::string measured;  // as shown; a sentence where there is nothing
  std::string unit{};    // "444.5 GB": what many bytes are, for a reader; may be empty
  bool holds = false;
};

struct JudgedRun {
  TourRun run;
  nlohmann::json document;  // of the run
  std::string model{};
  int samples = 0;  // of a step; 0: it has none
  StepTraffic traffic{};
  std::vector<JudgedClaim> claims{};
  int exit_code = 0;  // of `run`

  // Whether its own checks and all claims hold.
  bool holds() const;
};

// Sets the claims of `run` beside the document that a run of it left.
JudgedRun judged(const TourRun& run, const nlohmann::json& document, int steps);

// The run with all that it reads. Throws what `run` throws for bad use.
RunRequest prepared(const TourRun& run);

// Runs it, as it was prepared, in that folder.
JudgedRun walk(const TourRun& run, RunRequest request, const std::filesystem::path& folder);

// What to type to get the run alone.
std::string command_of(const TourRun& run);

}  // namespace ringside
