// What each rank holds by class of memory: when its training starts, at its peak and when it ends.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "runtime/launch.hpp"

namespace ringside {

// Neighbouring ranks that hold the same share lines; of many kinds of ranks those with the most and
// the least at their peak. Empty where no rank has ended.
std::string memory_text(const JobResult& job);

nlohmann::json memory_json(const JobResult& job);

}  // namespace ringside
