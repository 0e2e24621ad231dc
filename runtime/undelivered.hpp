// Messages that were sent and never received, seen when all ranks have returned.
#pragma once

#include <optional>
#include <vector>

#include "runtime/launch.hpp"

namespace ringside {

// A mismatch of the program: names group, operation and label, how many messages, and who sent any
// of that kind. Nothing when as many were received as were sent. Needs the reports of all ranks.
std::optional<JobFailure> undelivered(const std::vector<RankOutcome>& ranks);

}  // namespace ringside
