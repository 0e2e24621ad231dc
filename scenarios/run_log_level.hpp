// What a run keeps of its traffic.
#pragma once

#include "scenarios/run_verb.hpp"

namespace ringside {

// As --log says; without it every message, up to about a million, and sums beyond.
LogLevel log_level(const RunRequest& request);

}  // namespace ringside
