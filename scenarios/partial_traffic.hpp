// What a job that ended early leaves in its run folder: the messages that its ranks had logged.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/launch.hpp"

namespace ringside {

struct PartialTraffic {
  std::size_t messages = 0;
  std::vector<int> without{};  // ranks that took what they had received with them
  std::string no_trace{};      // why there is no trace.json
  std::string fault{};         // why there is no traffic.jsonl

  // "traffic up to then: traffic.jsonl, 12 messages; without what rank 2 had received".
  std::string text() const;
  nlohmann::json json() const;
};

// Writes traffic.jsonl and, within the limit, trace.json of a job that kept its messages. Throws
// nothing: the failure of the job is what the user is to see.
PartialTraffic write_partial_traffic(const std::filesystem::path& folder, const JobResult& job,
                                     std::int64_t trace_limit);

}  // namespace ringside
