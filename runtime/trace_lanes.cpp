#include "runtime/trace_lanes.hpp"

#include <algorithm>
#include <chrono>

namespace ringside {

std::size_t TraceLanes::place(Time start, Time end) {
  const auto nanosecond = [](Time t) { return std::chrono::floor<std::chrono::nanoseconds>(t); };
  const auto free = std::find_if(lanes_.begin(), lanes_.end(), [&](const Slice& last) {
    return last.end <= start && nanosecond(last.start) < nanosecond(start);
  });
  if (free != lanes_.end()) {
    *free = {start, end};
    return static_cast<std::size_t>(free - lanes_.begin());
  }
  if (lanes_.size() < most) {
    lanes_.push_back({start, end});
  }
  return lanes_.size() - 1;
}

}  // namespace ringside
