// The bench of tensor parallelism: no training, but one MLP that real ranks compute in parts.
#pragma once

#include "scenarios/run_report.hpp"

namespace ringside {

// Checks and traffic of settings.parallel.split. With checks.expect = "fail" the result must be
// wrong, and nothing else. Throws what a failed rank stands for.
RunReport run_split_scenario(const Settings& settings, const JobOptions& options);

}  // namespace ringside
