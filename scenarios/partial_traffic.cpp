#include "scenarios/partial_traffic.hpp"

#include <spdlog/fmt/fmt.h>

#include "runtime/rank_names.hpp"
#include "scenarios/plural.hpp"
#include "scenarios/run_folder.hpp"

namespace ringside {

std::string PartialTraffic::text() const {
  if (!fault.empty()) {
    return "traffic up to then could not be written: " + fault;
  }
  return fmt::format(
      "traffic up to then: traffic.jsonl, {}{}",
      plural(static_cast<std::int64_t>(messages), "message"),
      without.empty() ? "" : fmt::format("; without what {} had received", names_of(without)));
}

nlohmann::json PartialTraffic::json() const {
  nlohmann::json json{{"messages", messages}, {"ranks_without", without}};
  if (!fault.empty()) {
    json["error"] = fault;
  }
  return json;
}

// A report that has come in names at least the stream of its rank.
PartialTraffic write_partial_traffic(const std::filesystem::path& folder, const JobResult& job,
                                     std::int64_t trace_limit) {
  PartialTraffic partial;
  for (std::size_t r = 0; r < job.ranks.size(); ++r) {
    const RankReport& report = job.ranks[r].report;
    partial.messages += report.records.size();
    if (report.streams.empty()) {
      partial.without.push_back(static_cast<int>(r));
    }
  }
  const WrittenMessages written = write_messages(folder, job, trace_limit);
  partial.no_trace = written.no_trace;
  partial.fault = written.unwritten;
  return partial;
}

}  // namespace ringside
