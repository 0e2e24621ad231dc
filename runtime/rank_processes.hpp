// The launcher's side of a job whose ranks are processes.
#pragma once

#include <vector>

#include "runtime/rank_body.hpp"

namespace ringside {

// Forks the ranks and stays until all have ended and were reaped. Takes over the listeners.
// Throws BadUse when a fork fails; no process is left behind then.
JobResult run_as_processes(SharedJob& job, const JobOptions& options, std::vector<int> listeners,
                           const RankFunction& fn);

}  // namespace ringside
