#include "scenarios/timed_schedule.hpp"

#include "parallel/pipeline/validate.hpp"

namespace ringside {

TimedSchedule timed(Schedule schedule, const ScheduleCosts& costs, std::optional<int> in_flight) {
  require_valid(schedule, {.in_flight = in_flight});
  auto timing = time_of(schedule, costs);
  auto peaks = peak_in_flight(schedule);
  return {.schedule = std::move(schedule),
          .costs = costs,
          .timing = std::move(timing),
          .peaks = std::move(peaks)};
}

TimedSchedule timed(std::string_view name, const PipelineShape& shape, const ScheduleCosts& costs,
                    std::optional<int> in_flight) {
  TimedSchedule result = timed(make_schedule(name, shape), costs, in_flight);
  result.row = &schedule_row(name);
  result.formula = result.row->bubble(shape, costs);
  return result;
}

}  // namespace ringside
