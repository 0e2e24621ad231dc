// The schedules that the program knows: one function and one row of a table each.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/pipeline/schedule.hpp"
#include "parallel/pipeline/timing.hpp"

namespace ringside {

struct PipelineShape {
  int stages = 1;  // p; of interleaved the devices, of dualpipev twice the devices
  int microbatches = 1;
  int chunks = 1;  // v: stages of a device, for interleaved only
};

struct ScheduleRow {
  std::string_view name;
  // Throws BadUse, with the numbers and the nearest choices, for a shape outside its rule.
  Schedule (*make)(const PipelineShape& shape);
  std::string_view rule;  // which p, m and v it takes
  // The published bubble, where B = I + W, and for which costs it is exact.
  Rational (*bubble)(const PipelineShape& shape, const ScheduleCosts& costs);
  std::string_view formula;
  std::string_view exact_for;
  bool inside_device;  // that it speaks of the bubble inside a device
  int copies;          // of the parameters, over all devices
  std::string_view meaning;
  std::string_view source;
};

std::span<const ScheduleRow> schedule_table();
std::vector<std::string> schedule_names();
// Throws BadUse with the names that exist.
const ScheduleRow& schedule_row(std::string_view name);

// Throws BadUse for degrees below 1, more actions than are sensible, and as the row's function.
Schedule make_schedule(std::string_view name, const PipelineShape& shape);

// ---- generators in files of their own --------------------------------------------------------

// zero_bubble.cpp
Schedule zb_h1(const PipelineShape& shape);
Schedule zb_h2(const PipelineShape& shape);
// dualpipe.cpp
Schedule dualpipe(const PipelineShape& shape);
Schedule dualpipev(const PipelineShape& shape);

}  // namespace ringside
