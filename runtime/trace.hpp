// trace.json: a run in Chrome's trace event format, to be opened in Perfetto or chrome://tracing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "runtime/rank_report.hpp"

namespace ringside {

// pid = rank; a thread for each stream (tid = 1 + its index, since viewers hide thread 0), and
// above them lanes for what the rank sends and receives. Every message is a slice on its sender's
// side, its departure, a slice of the same length on its receiver's side, which ends at the
// arrival, and a flow from the one to the other; one that takes no time is a mark on either side.
// All times are modelled. Throws BadUse when the file cannot be written.
void write_trace(const std::filesystem::path& path, const std::vector<RankReport>& ranks);

// About how many bytes write_trace would write.
std::int64_t trace_size(const std::vector<RankReport>& ranks);

}  // namespace ringside
