// A message as the traffic log tells it: what a line of traffic.jsonl and of the live view hold.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/traffic.hpp"

namespace ringside {

struct LoggedMessage {
  std::string group;
  std::uint64_t seq = 0;  // of the operation in its group
  std::string op;
  std::string algorithm;
  std::string phase;
  std::int32_t step = 0;
  std::int32_t chunk = -1;  // -1: the message is no chunk of a larger whole
  std::string label;
  std::int32_t src = 0;  // world ranks
  std::int32_t dst = 0;
  LinkClass link = LinkClass::self;
  std::int64_t bytes = 0;
  Time start{0};  // the departure's
  Time end{0};    // the arrival
  std::int64_t wall_ns = 0;
};

LoggedMessage logged(const TrafficRecord& record);

// Microseconds to the picosecond: "12.500000".
std::string microseconds(Time time);

// One line for people, without its end, in columns: modelled start and end, from and to, bytes,
// link, group and operation, phase, step, chunk, label. Times are microseconds to the picosecond,
// so that they can be compared down the page.
std::string describe(const LoggedMessage& message);

}  // namespace ringside
