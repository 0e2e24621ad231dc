// Whether this machine can give a job what it needs, before any rank starts.
#pragma once

#include <cstdint>

#include "runtime/job_options.hpp"

namespace ringside {

// Throws BadUse, with what is needed and what is available, when n ranks cannot be had: their
// number, the file descriptors of the launcher and of each rank, the processes of the user. (The
// memory is refused where it is mapped.)
void check_limits(int n, const JobOptions& options);

// Connections of a rank that have not said who they are, and that it can always hold.
inline constexpr std::uint64_t fewest_strangers = 4;

}  // namespace ringside
