// Whether this machine can give a job what it needs, before any rank starts.
#pragma once

#include "runtime/job_options.hpp"

namespace ringside {

// Throws BadUse, with what is needed and what is available, when n ranks cannot be had: their
// number, the file descriptors of the launcher and of each rank, the processes of the user. (The
// memory is refused where it is mapped.)
void check_limits(int n, const JobOptions& options);

}  // namespace ringside
