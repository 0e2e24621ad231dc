// The bench of modelled time: no training, but two groups that share a port.
#pragma once

#include "scenarios/run_report.hpp"

namespace ringside {

// Throws BadUse unless there are three ranks in one node.
void require_two_streams(const Settings& settings);

// Checks and traffic of settings.parallel.streams. Throws what a failed rank stands for.
RunReport run_two_streams_scenario(const Settings& settings, const JobOptions& options);

}  // namespace ringside
