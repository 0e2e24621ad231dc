// A schedule with all that is said about it.
#pragma once

#include <optional>

#include "parallel/pipeline/generators.hpp"
#include "parallel/pipeline/in_flight.hpp"

namespace ringside {

struct TimedSchedule {
  Schedule schedule;
  ScheduleCosts costs;
  ScheduleTiming timing;
  PeakInFlight peaks;
  const ScheduleRow* row = nullptr;  // of a generator; nullptr for a file
  // Of a generator: the published bubble for these costs.
  std::optional<Rational> formula{};

  // The bubble that the formula speaks of.
  Rational bubble_of_formula() const {
    return row->inside_device ? timing.bubble_inside_device() : timing.bubble();
  }
};

// Throws BadUse when it is not valid, or holds more than `in_flight` activations on a device.
TimedSchedule timed(Schedule schedule, const ScheduleCosts& costs,
                    std::optional<int> in_flight = {});
// As make_schedule, with its row and formula.
TimedSchedule timed(std::string_view name, const PipelineShape& shape, const ScheduleCosts& costs,
                    std::optional<int> in_flight = {});

}  // namespace ringside
