// traffic.jsonl: a line per message of a run.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <vector>

#include "runtime/logged_message.hpp"
#include "runtime/rank_report.hpp"

namespace ringside {

// In the order of (start, src, group, seq, step, chunk, dst), ties in the receiving rank's program
// order: equal runs write equal files but for wall_ns. Throws BadUse when it cannot be written.
void write_traffic_log(const std::filesystem::path& path, const std::vector<RankReport>& ranks);

struct TrafficLogEnd {
  std::size_t messages = 0;
  bool cut = false;  // the last line is only begun: the run ended while it was written
};

// Calls `take` for each message, in the order of the file. Throws BadUse, with the line's number,
// when it meets what is no message, and when the file cannot be read.
TrafficLogEnd read_traffic_log(const std::filesystem::path& path,
                               const std::function<void(const LoggedMessage&)>& take);

}  // namespace ringside
