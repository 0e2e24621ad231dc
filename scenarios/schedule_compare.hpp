// Schedules of one shape side by side.
#pragma once

#include <string>
#include <vector>

#include "scenarios/timed_schedule.hpp"

namespace ringside {

struct ComparedSchedule {
  std::string name;
  int chunks = 1;
  std::optional<TimedSchedule> timed{};
  std::string refusal{};  // why there is none

  // The most over devices, in activations of a stage (of chunks 1/v), freed at I and at W.
  Rational peak_freed_at_I() const;
  Rational peak_freed_at_W() const;
};

// All of the table; interleaved with 1 to shape.chunks chunks. One that does not take the shape
// says why.
std::vector<ComparedSchedule> compared(const PipelineShape& shape, const ScheduleCosts& costs);

// A line each, and the reasons of those that were refused.
std::string comparison_of(const std::vector<ComparedSchedule>& schedules,
                          const PipelineShape& shape, const ScheduleCosts& costs);

}  // namespace ringside
