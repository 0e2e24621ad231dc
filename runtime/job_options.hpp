// How a job runs. Plain data with defaults, to be filled with designated initializers.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "runtime/backing.hpp"
#include "runtime/topology.hpp"
#include "runtime/traffic.hpp"

namespace ringside {

// Processes are the truth; threads are for the thread sanitizer, which sees nothing between
// processes.
enum class Ranks : std::uint8_t { processes, threads };

struct JobOptions {
  Cluster cluster{};
  Ranks as = Ranks::processes;
  std::size_t eager_limit = 1024;         // bytes; 0: every send is acknowledged
  std::size_t region_bytes = 64UL << 20;  // real memory of a rank, touched as it is used
  Backing memory = Backing::real;         // meta: tensors store nothing, and the region is small
  std::chrono::nanoseconds limit = std::chrono::seconds(30);  // of every wait
  double pace = 0;  // wall seconds per modelled second; 0: full speed
  LogLevel log = LogLevel::summary;
  bool trace = false;         // keep spans of modelled time
  bool live = false;          // a line per message on stderr as it comes in
  std::uint64_t disturb = 0;  // seed of random delays in the wires; 0: none
  std::function<void(int rank, std::string_view text)> on_note{};
};

}  // namespace ringside
