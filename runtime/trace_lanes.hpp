// Slices of a trace in whole nanoseconds, which is what viewers keep; those that overlap cannot
// share a thread, and are dealt out to lanes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/units.hpp"

namespace ringside {

struct TraceSlice {
  std::int64_t start;
  std::int64_t end;  // above start
};

// Cut to whole nanoseconds at both ends, so that what did not overlap does not now; at least one
// long. None for what takes no time.
std::optional<TraceSlice> trace_slice(Time start, Time end);

// One thread, whose work comes in the order of its starts and does not overlap.
class TraceThread {
 public:
  // Of what falls into one nanosecond the first is kept, and the next begins after it.
  std::optional<TraceSlice> place(Time start, Time end);

 private:
  std::int64_t free_ = 0;
};

class TraceLanes {
 public:
  // A viewer cannot show more; what overlaps further shares the last one.
  static constexpr std::size_t most = 16;

  // The first lane that is free at the slice's start; call in the order of the starts.
  std::size_t place(const TraceSlice& slice);

  std::size_t count() const { return ends_.size(); }

 private:
  std::vector<std::int64_t> ends_;  // of the last slice of each
};

}  // namespace ringside
