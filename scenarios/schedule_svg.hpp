// A schedule over time as a drawing.
#pragma once

#include <string>

#include "scenarios/timed_schedule.hpp"

namespace ringside {

// A row for each device, a box for each action with its micro-batch where it fits; boxes of other
// stages than the device's first are framed. Below it both bubble figures with their names.
std::string svg_of(const TimedSchedule& timed);

}  // namespace ringside
