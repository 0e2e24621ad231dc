#include "runtime/port.hpp"

#include <algorithm>

namespace ringside {

Time& Port::slot(std::size_t stream) {
  if (stream >= free_.size()) {
    free_.resize(stream + 1, Time{0});
  }
  return free_[stream];
}

Booking Port::book(std::size_t stream, Time ready, Time duration) {
  const Time start = std::max(ready, slot(stream));
  all_ = add(std::max(all_, start), duration);
  Time end = add(start, duration);
  for (std::size_t other = 0; other < free_.size(); ++other) {
    if (other != stream && free_[other] > start) {
      const Time shared = std::min(duration, free_[other] - start);
      end += shared;
      free_[other] = std::max(free_[other], std::min(free_[other] + shared, all_));
    }
  }
  end = std::min(end, all_);
  free_[stream] = end;
  return {start, end};
}

Time Port::free(std::size_t stream) const {
  return stream < free_.size() ? free_[stream] : Time{0};
}

void Port::extend(std::size_t stream, Time end) {
  slot(stream) = std::max(slot(stream), end);
}

}  // namespace ringside
