// `ringside schedule`: a pipeline schedule, timed, drawn and written; or all of them side by side.
#pragma once

#include <optional>
#include <string>

#include "parallel/pipeline/generators.hpp"

namespace ringside {

struct ScheduleRequest {
  enum class What { one, compare, list };

  What what = What::list;
  std::string name{};  // of a generator, or of a CSV file; in messages
  bool file = false;
  PipelineShape shape{.stages = 4, .microbatches = 8, .chunks = 1};
  ScheduleCosts costs{};
  std::optional<int> in_flight{};  // most activations that a device may hold
  std::string svg{};               // file to draw into; empty: none
  std::string csv{};               // file to write; empty: none
  bool json = false;
};

// Throws BadUse for a file that cannot be read, and for a schedule that is not valid.
int schedule_verb(const ScheduleRequest& request);

}  // namespace ringside
