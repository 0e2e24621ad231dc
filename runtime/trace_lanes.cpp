#include "runtime/trace_lanes.hpp"

#include <algorithm>
#include <chrono>

namespace ringside {

std::optional<TraceSlice> trace_slice(Time start, Time end) {
  if (end <= start) {
    return std::nullopt;
  }
  const auto nanoseconds = [](Time t) {
    return static_cast<std::int64_t>(std::chrono::floor<std::chrono::nanoseconds>(t).count());
  };
  return TraceSlice{nanoseconds(start), std::max(nanoseconds(end), nanoseconds(start) + 1)};
}

std::optional<TraceSlice> TraceThread::place(Time start, Time end) {
  auto slice = trace_slice(start, end);
  if (!slice) {
    return std::nullopt;
  }
  slice->start = std::max(slice->start, free_);
  if (slice->end <= slice->start) {
    return std::nullopt;
  }
  free_ = slice->end;
  return slice;
}

std::size_t TraceLanes::place(const TraceSlice& slice) {
  const auto free =
      std::find_if(ends_.begin(), ends_.end(), [&](auto end) { return end <= slice.start; });
  if (free != ends_.end()) {
    *free = slice.end;
    return static_cast<std::size_t>(free - ends_.begin());
  }
  if (ends_.size() < most) {
    ends_.push_back(slice.end);
  }
  return ends_.size() - 1;
}

}  // namespace ringside
