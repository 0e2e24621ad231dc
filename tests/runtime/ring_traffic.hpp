// The traffic of a ring all-reduce as ranks would report it, with round times, for tests of what is
// written and read.
#pragma once

#include <string>
#include <vector>

#include "runtime/rank_report.hpp"

namespace ringside {

using namespace std::string_view_literals;

inline TrafficRecord message_record(int src, int dst, Time start, std::uint64_t bytes) {
  TrafficRecord record;
  auto& e = record.envelope;
  e.source = src;
  e.destination = dst;
  e.group_name = "dp"sv;
  e.signature.operation = "all_reduce"sv;
  e.signature.algorithm = "ring"sv;
  e.bytes = bytes;
  e.link = src == dst ? LinkClass::self : LinkClass::nvlink;
  e.t0 = start;
  e.t1 = start + Time(static_cast<std::int64_t>(bytes));  // 1 TB/s
  record.arrival = e.t1 + std::chrono::nanoseconds(1);
  record.wall_ns = start.count() + 7 * dst;
  return record;
}

// 2(p-1) steps of `bytes` to the next rank; each rank has one span per step on stream 1.
inline std::vector<RankReport> ring_reports(int p, std::uint64_t bytes) {
  std::vector<RankReport> ranks(static_cast<std::size_t>(p));
  Time start{0};
  for (int step = 0; step < 2 * (p - 1); ++step) {
    Time end{0};
    for (int rank = 0; rank < p; ++rank) {
      auto record = message_record((rank + p - 1) % p, rank, start, bytes);
      auto& e = record.envelope;
      e.signature.label = "grad.bucket.0"sv;
      e.phase = step < p - 1 ? "reduce_scatter"sv : "all_gather"sv;
      e.step = step;
      e.chunk = (rank + 2 * p - 2 - step) % p;
      end = record.arrival;
      auto& report = ranks[static_cast<std::size_t>(rank)];
      report.records.push_back(record);
      report.spans.push_back({1, "all_reduce"sv, start, end});
    }
    start = end;
  }
  for (auto& rank : ranks) {
    rank.streams = {"compute"sv, "dp"sv};
  }
  return ranks;
}

}  // namespace ringside
