// The sums of a run's traffic in its summary.json, for a run that kept no messages.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "scenarios/traffic_digest.hpp"

namespace ringside {

inline constexpr std::uintmax_t most_summary_bytes = std::uintmax_t{64} << 20;

struct RankTraffic {
  int rank = 0;
  TrafficKind kind;  // the algorithm is not kept
  std::string label;
  TrafficCount sent;
  TrafficCount received;
};

struct TrafficSummary {
  std::string scenario;  // "dp/ring"
  std::string log;       // what was kept: "summary", "none"
  std::vector<RankTraffic> sums;
};

// Throws BadUse when there are no sums in it, or what it has is none.
TrafficSummary read_traffic_summary(const std::filesystem::path& path);

}  // namespace ringside
