#include "runtime/port.hpp"

#include <algorithm>

namespace ringside {

namespace {

constexpr std::size_t check_points_between = 1024;  // two tidyings, at least

}  // namespace

Port::Queue& Port::queue(std::size_t stream) {
  for (Queue& known : queues_) {
    if (known.stream == stream) {
      return known;
    }
  }
  queues_.push_back({.stream = stream, .transfers = {}, .heads = std::vector<Head>(times_.size())});
  return queues_.back();
}

Booking Port::book(std::size_t stream, Time ready, Time duration) {
  Queue& mine = queue(stream);
  const Time start = std::max({ready, finish(mine), times_.front()});
  back_to(start);
  mine.transfers.push_back({start, duration});
  end_what_is_served(mine);
  return {start, finish(mine)};
}

Time Port::end(std::size_t stream) {
  for (const Queue& known : queues_) {
    if (known.stream == stream) {
      return finish(known);
    }
  }
  return Time{0};
}

// What ends at the last check point: it is served, or takes no time and is ready.
void Port::end_what_is_served(Queue& queue) const {
  const Time now = times_.back();
  while (!queue.idle() && queue.left() == Time{0} && queue.front().ready <= now) {
    queue.heads.back() = {queue.heads.back().next + 1, Time{0}};
    queue.end = now;
  }
}

// Goes on until the queue has ended all that is booked.
Time Port::finish(const Queue& queue) {
  while (!queue.idle()) {
    advance();
  }
  return queue.end;
}

// Nothing that is booked from `start` on changes what the port has done before.
void Port::back_to(Time start) {
  const auto later = std::upper_bound(times_.begin(), times_.end(), start);
  const auto kept = static_cast<std::size_t>(later - times_.begin());
  times_.erase(later, times_.end());
  for (Queue& queue : queues_) {
    queue.heads.resize(kept);
  }
}

// Until the next event: the first end of a transfer, or a stream whose next one becomes ready.
Port::Stride Port::until_next_event() const {
  const Time now = times_.back();
  std::int64_t active = 0;
  Time least = Time::max();
  Time ready = Time::max();
  for (const Queue& queue : queues_) {
    if (queue.idle()) {
      continue;
    }
    if (queue.front().ready <= now) {
      ++active;
      least = std::min(least, queue.left());
    } else {
      ready = std::min(ready, queue.front().ready);
    }
  }
  if (active == 0) {
    return {.end = ready};
  }
  if (ready != Time::max() && (ready - now) / active < least) {
    return {.end = ready, .each = (ready - now) / active, .more = (ready - now).count() % active};
  }
  Stride stride{.end = now, .each = least};
  for (std::int64_t i = 0; i < active; ++i) {
    stride.end = add(stride.end, least);
  }
  return stride;
}

// A new check point, at the next event. Where the time until then does not divide, the streams that
// were booked first get a picosecond more.
void Port::advance() {
  Stride stride = until_next_event();
  const Time now = times_.back();
  times_.push_back(stride.end);
  for (Queue& queue : queues_) {
    Head head = queue.heads.back();
    if (!queue.idle() && queue.front().ready <= now) {
      head.served += stride.each + Time{stride.more-- > 0 ? 1 : 0};
    }
    queue.heads.push_back(head);
    end_what_is_served(queue);
  }
}

std::size_t Port::ended(std::size_t check_point) const {
  std::size_t count = 0;
  for (const Queue& queue : queues_) {
    count += queue.heads[check_point].next;
  }
  return count;
}

std::size_t Port::last_check_point_until(Time program) const {
  const auto later = std::upper_bound(times_.begin(), times_.end(), program);
  return later == times_.begin() ? 0 : static_cast<std::size_t>(later - times_.begin()) - 1;
}

void Port::forget(Time program) {
  if (times_.size() < tidy_at_) {
    return;
  }
  std::size_t first = last_check_point_until(program);
  const std::size_t past = ended(first);
  while (first > 0 && past - ended(first) < kept_) {
    --first;
  }
  times_.erase(times_.begin(), times_.begin() + static_cast<std::ptrdiff_t>(first));
  for (Queue& queue : queues_) {
    queue.heads.erase(queue.heads.begin(),
                      queue.heads.begin() + static_cast<std::ptrdiff_t>(first));
    const std::size_t gone = queue.heads.front().next - queue.forgotten;
    queue.transfers.erase(queue.transfers.begin(),
                          queue.transfers.begin() + static_cast<std::ptrdiff_t>(gone));
    queue.forgotten += gone;
  }
  tidy_at_ = times_.size() + std::max(check_points_between, times_.size() / 4);
}

}  // namespace ringside
