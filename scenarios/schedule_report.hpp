// A schedule's figures in words; all schedules in a table; what schedules there are.
#pragma once

#include <string>
#include <vector>

#include "scenarios/schedule_gantt.hpp"
#include "scenarios/timed_schedule.hpp"

namespace ringside {

// Headline, Gantt, and the figures with their names.
std::string report_of(const TimedSchedule& timed, const GanttOptions& gantt);

// "F = 1, I = 1, W = 1, B = I + W = 2"
std::string text_of(const ScheduleCosts& costs);

// "21.9 %"
std::string share(const Rational& ratio);

// Name, what it takes, formula and meaning of each.
std::string schedule_list();

}  // namespace ringside
