// What a rank leaves behind when it ends: traffic, spans of modelled time, memory, clocks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/device_memory.hpp"
#include "runtime/traffic.hpp"

namespace ringside {

// A piece of modelled work on one stream of one rank.
struct Span {
  std::uint32_t stream = 0;
  Text<48> name{};
  Time start{0};
  Time end{0};
};

struct RankReport {
  std::vector<TrafficSum> sums{};
  std::vector<TrafficRecord> records{};
  std::vector<Span> spans{};
  std::vector<Text<48>> streams{};  // names, by index
  Ledger memory{};
  Time modelled{0};            // the program's stream at the end
  std::int64_t wall_ns = 0;    // since the job's start
  std::int64_t behind_ns = 0;  // by how much the wall clock fell behind the pace in all

  std::string encode() const;
  static RankReport decode(std::string_view bytes);
};

}  // namespace ringside
