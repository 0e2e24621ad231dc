#include "scenarios/run_time.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace ringside {

namespace {

Time modelled(const JobResult& job) {
  Time longest{0};
  for (const auto& rank : job.ranks) {
    longest = std::max(longest, rank.report.modelled);
  }
  return longest;
}

std::int64_t most_behind(const JobResult& job) {
  std::int64_t most = 0;
  for (const auto& rank : job.ranks) {
    most = std::max(most, rank.report.behind_ns);
  }
  return most;
}

std::string pace_text(const JobResult& job) {
  const auto behind = most_behind(job);
  return behind == 0 ? ""
                     : fmt::format("; {} behind the pace",
                                   to_string(Time(std::chrono::nanoseconds(behind))));
}

}  // namespace

// A run that ended in an error has no job that could be measured.
std::string time_text(const RunReport& report) {
  const auto& job = report.job;
  const auto wall = [](std::chrono::nanoseconds time) {
    return to_string(std::chrono::duration_cast<Time>(time));
  };
  return job.ranks.empty()
             ? "  time: none: the run ended before it had a result"
             : fmt::format("  time: modelled {}, wall {} ({} with all checks)",
                           to_string(modelled(job)), wall(job.wall), wall(report.command_wall)) +
                   pace_text(job);
}

nlohmann::json time_json(const RunReport& report) {
  const auto& job = report.job;
  if (job.ranks.empty()) {
    return nullptr;
  }
  return {{"modelled_ps", modelled(job).count()},
          {"wall_ns", job.wall.count()},
          {"command_wall_ns", report.command_wall.count()},
          {"behind_pace_ns", most_behind(job)}};
}

}  // namespace ringside
