// The live view of the traffic: a readable line on stderr for each message that a rank receives.
#pragma once

#include <memory>

#include "runtime/traffic.hpp"

namespace spdlog {
class logger;
}

namespace ringside {

// Make one in each rank, after the fork. A line is one write, so lines of ranks that share the
// terminal do not mix.
class LiveLog {
 public:
  LiveLog();
  void message(const TrafficRecord& record);

 private:
  std::shared_ptr<spdlog::logger> logger_;
};

}  // namespace ringside
