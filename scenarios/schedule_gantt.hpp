// A schedule over time as rows of characters, one for each device.
#pragma once

#include <cstddef>
#include <string>

#include "scenarios/timed_schedule.hpp"

namespace ringside {

struct GanttOptions {
  std::size_t columns = 132;  // that a line may take
  bool colour = false;        // escape sequences for a terminal
};

// Where it fits, each action is written with its micro-batch ("F0", of several stages on a device
// "2F0"), and an F that is computed together with the next action is joined to it by '&'. Else a
// letter for each column of time, small for stages other than the device's first, in up to four
// panels one below the other; and where that does not do, either, a column stands for several units
// of time and shows what lasts over its middle. '.' is waiting. Ends in a legend.
std::string gantt_of(const TimedSchedule& timed, const GanttOptions& options);

}  // namespace ringside
