// What `ringside schedule --json` prints.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "scenarios/schedule_compare.hpp"
#include "scenarios/timed_schedule.hpp"

namespace ringside {

nlohmann::ordered_json json_of(const TimedSchedule& timed);
nlohmann::ordered_json json_of(const std::vector<ComparedSchedule>& schedules,
                               const PipelineShape& shape, const ScheduleCosts& costs);
nlohmann::ordered_json schedule_list_json();

}  // namespace ringside
