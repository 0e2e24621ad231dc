#include "scenarios/schedule_compare.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "runtime/errors.hpp"
#include "scenarios/schedule_report.hpp"
#include "scenarios/text_table.hpp"

namespace ringside {

namespace {

Rational most(const std::vector<int>& held, int chunks) {
  return {*std::ranges::max_element(held), chunks};
}

ComparedSchedule one(std::string_view name, const PipelineShape& shape,
                     const ScheduleCosts& costs) {
  ComparedSchedule result{.name = std::string(name), .chunks = shape.chunks};
  try {
    result.timed = timed(name, shape, costs);
  } catch (const BadUse& refusal) {
    result.refusal = refusal.what();
  }
  return result;
}

std::string shown_name(const ComparedSchedule& schedule) {
  return schedule.name == "interleaved" ? fmt::format("interleaved v={}", schedule.chunks)
                                        : schedule.name;
}

std::vector<std::string> cells(const ComparedSchedule& schedule) {
  const TimedSchedule& timed = *schedule.timed;
  const ScheduleTiming& t = timed.timing;
  return {shown_name(schedule),
          std::to_string(timed.schedule.devices.size()),
          t.makespan().text(),
          t.bubble().text(),
          share(t.bubble_over_ideal()),
          share(t.bubble_over_total()),
          t.bubble_inside_device().text(),
          schedule.peak_freed_at_I().text(),
          schedule.peak_freed_at_W().text(),
          std::to_string(timed.row->copies)};
}

}  // namespace

Rational ComparedSchedule::peak_freed_at_I() const {
  return most(timed->peaks.freed_at_I, chunks);
}

Rational ComparedSchedule::peak_freed_at_W() const {
  return most(timed->peaks.freed_at_W, chunks);
}

std::vector<ComparedSchedule> compared(const PipelineShape& shape, const ScheduleCosts& costs) {
  std::vector<ComparedSchedule> all;
  for (const ScheduleRow& row : schedule_table()) {
    const int most_chunks = row.name == "interleaved" ? shape.chunks : 1;
    for (int v = 1; v <= most_chunks; ++v) {
      all.push_back(one(row.name, {shape.stages, shape.microbatches, v}, costs));
    }
  }
  return all;
}

std::string comparison_of(const std::vector<ComparedSchedule>& schedules,
                          const PipelineShape& shape, const ScheduleCosts& costs) {
  const std::string bubble = "bubble";
  const std::string held = "most stages held";
  TextTable table({{.title = "schedule", .left = true},
                   {.title = "devices"},
                   {.title = "makespan"},
                   {.title = "time", .group = bubble},
                   {.title = "over ideal", .group = bubble},
                   {.title = "over total", .group = bubble},
                   {.title = "inside device", .group = bubble},
                   {.title = "freed at I", .group = held},
                   {.title = "freed at W", .group = held},
                   {.title = "copies of parameters"}});
  std::string refusals;
  for (const ComparedSchedule& schedule : schedules) {
    if (schedule.timed) {
      table.add(cells(schedule));
    } else {
      refusals += fmt::format("  {}: {}\n", shown_name(schedule), schedule.refusal);
    }
  }
  return fmt::format("{} stages, {} micro-batches; costs: {}\n\n", shape.stages, shape.microbatches,
                     text_of(costs)) +
         table.text() +
         "\n  over ideal: bubble / busy; over total: bubble / makespan. Held: activations of a "
         "stage and\n  micro-batch on the worst device, of a chunk 1/v. B is the whole backward, I "
         "+ W.\n  dualpipev has two stages on each of half as many devices: its times are twice as "
         "long.\n" +
         (refusals.empty() ? "" : "\nleft out:\n" + refusals);
}

}  // namespace ringside
