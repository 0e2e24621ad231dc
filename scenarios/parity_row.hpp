// One row of `ringside parity`: a plan that was run and set beside one process, or refused.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "scenarios/check.hpp"
#include "scenarios/parity_plans.hpp"
#include "scenarios/training_job.hpp"

namespace ringside {

// Loss and norm of the last step on rank 0; the worst gradient of all steps and ranks.
struct ParityFigures {
  double loss = 0;
  double norm = 0;
  double absolute = 0;
  double relative = 0;  // to the model's largest gradient element
  double ulps = 0;
};

enum class ParityVerdict : std::uint8_t { pass, refused, caught, fail, missed };

std::string_view name_of(ParityVerdict verdict);

struct ParityRow {
  std::string plan{};
  std::string control{};  // a deliberate fault; empty: none
  ParityVerdict verdict = ParityVerdict::fail;
  std::optional<ParityFigures> figures{};  // none: it did not run to its end
  std::string why{};                       // the refusal, or the gate that is broken
};

// Whether the row is as it should be: passed, refused before anything started, or caught.
bool row_holds(const ParityRow& row);

// Runs plans; what one process computes, and the gates of a plan without a fault, are kept for the
// rows that need them again.
class ParityRuns {
 public:
  explicit ParityRuns(std::chrono::nanoseconds limit = JobOptions{}.limit) : limit_(limit) {}

  // Throws PeerLost when a rank is lost.
  ParityRow row_of(const ParityPlan& plan);

 private:
  const Reference& reference(const Settings& settings);
  TrainingOutcome run(const Settings& settings, Fault fault);
  const Checks& gates_without_fault(const Settings& settings);

  std::chrono::nanoseconds limit_;  // of every wait
  std::map<std::pair<int, int>, Reference> references_{};
  std::map<std::string, Checks> gates_{};
};

}  // namespace ringside
