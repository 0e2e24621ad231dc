// How long a run took: modelled, on the wall clock, and behind its pace.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "scenarios/run_report.hpp"

namespace ringside {

std::string time_text(const RunReport& report);
nlohmann::json time_json(const RunReport& report);

}  // namespace ringside
