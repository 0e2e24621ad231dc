// A job whose ranks are threads of this process: for the thread sanitizer, which sees nothing
// between processes. A crash or an exit takes the launcher along, and a thread cannot be killed:
// the job lasts until every function has returned.
#pragma once

#include <vector>

#include "runtime/rank_body.hpp"

namespace ringside {

// Throws BadUse when a thread cannot be started. Each rank takes over its listener.
JobResult run_as_threads(SharedJob& job, const JobOptions& options,
                         const std::vector<int>& listeners, const RankFunction& fn);

}  // namespace ringside
