#include "runtime/port.hpp"

#include <algorithm>

namespace ringside {

namespace {

constexpr std::size_t held_between = 1024;  // two times of forgetting, at least

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
  const Time before = end_of(mine);
  const Time from = std::max(ready, times_.front());
  const Time start = std::max(from, before);
  back_to(start);
  const bool follows = from <= mine.alone;  // whatever else is booked
  mine.transfers.push_back({follows ? Time{0} : from, duration, mine.booked});
  mine.booked = add(mine.booked, duration);
  mine.gap = follows ? mine.gap : std::max(mine.gap, from);
  mine.alone = add(std::max(mine.alone, from), duration);
  end_what_is_served(mine);
  return {start, end_of(mine)};
}

Time Port::end(std::size_t stream) {
  for (const Queue& known : queues_) {
    if (known.stream == stream) {
      return end_of(known);
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

bool Port::no_gap_ahead() const {
  return std::all_of(queues_.begin(), queues_.end(),
                     [&](const Queue& queue) { return queue.gap <= times_.back(); });
}

// Goes on until the queue has ended all that is booked, or no gap lies ahead. Then all that have
// something left are served alike from now on, until each has all.
Time Port::end_of(const Queue& queue) {
  while (!queue.idle() && !no_gap_ahead()) {
    advance(until_next_event());
  }
  if (queue.idle()) {
    return queue.end;
  }
  const Time mine = queue.left_in_all();
  Time end = times_.back();
  for (const Queue& each : queues_) {
    end = add(end, std::min(mine, each.left_in_all()));
  }
  return end;
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
void Port::advance(Stride stride) {
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

std::size_t Port::held() const {
  std::size_t count = times_.size();
  for (const Queue& queue : queues_) {
    count += queue.transfers.size();
  }
  return count;
}

bool Port::idle() const {
  return std::all_of(queues_.begin(), queues_.end(), [](const Queue& q) { return q.idle(); });
}

void Port::forget(Time program) {
  if (held() < tidy_at_) {
    return;
  }
  while (!idle() && until_next_event().end <= program) {
    advance(until_next_event());
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
  tidy_at_ = held() + std::max(held_between, held() / 4);
}

}  // namespace ringside
