// What a parked rank waits for, for reports and for the search for deadlocks.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/message.hpp"

namespace ringside {

struct WaitRecord {
  Text<16> kind{};  // "recv", "send"; empty: not waiting
  std::int32_t peer = -1;
  std::int64_t tag = 0;
  std::uint64_t bytes = 0;
  std::int32_t step = 0;
  std::uint64_t sequence = 0;
  Text<16> operation{};  // empty: not in a launched operation
  Text<24> algorithm{};
  Text<32> group{};
};

// "recv from rank 3 in group dp, all_reduce (ring) #12, step 4, 64.0 KiB".
std::string text_of(const WaitRecord& what);

}  // namespace ringside
