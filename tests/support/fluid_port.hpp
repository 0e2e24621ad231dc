// The rule of docs/time.md in its plainest form, to judge the port by: everything that was ever
// booked is kept, and each question is answered by going through all of it again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ringside {

class FluidPort {
 public:
  // The end of the transfer in the fluid model of all that is booked so far.
  std::int64_t book(std::size_t stream, std::int64_t ready, std::int64_t duration) {
    add(stream, ready, duration);
    return ends().back();
  }

  void add(std::size_t stream, std::int64_t ready, std::int64_t duration) {
    booked_.push_back({stream, ready, duration});
  }

  // Ends of all transfers, in the order of booking, when streams that have something to send share
  // the port equally; each stream first in, first out.
  std::vector<std::int64_t> ends() const {
    std::vector<std::int64_t> end(booked_.size());
    std::vector<Queue> queues = queues_of_streams();
    for (std::int64_t now = 0;;) {
      std::vector<Left*> active;
      std::int64_t next = never;
      for (Queue& queue : queues) {
        for (; queue.served_until(now); ++queue.head) {
          end[queue.front().place] = std::max(now, queue.front().ready);
        }
        if (queue.head == queue.transfers.size()) {
          continue;
        }
        if (queue.front().ready <= now) {
          active.push_back(&queue.front());
        } else {
          next = std::min(next, queue.front().ready);
        }
      }
      if (active.empty() && next == never) {
        return end;
      }
      now = active.empty() ? next : serve(active, now, next);
    }
  }

  // When the stream's last transfer ends; 0 without any.
  std::int64_t end(std::size_t stream) const {
    const auto all = ends();
    std::int64_t last = 0;
    for (std::size_t i = 0; i < booked_.size(); ++i) {
      last = booked_[i].stream == stream ? all[i] : last;
    }
    return last;
  }

  // When a port that serves one transfer after the other, first come, first served, ends its work.
  std::int64_t work_ends() const {
    auto by_time = booked_;
    std::stable_sort(by_time.begin(), by_time.end(),
                     [](const auto& a, const auto& b) { return a.ready < b.ready; });
    std::int64_t busy = 0;
    for (const auto& transfer : by_time) {
      busy = std::max(busy, transfer.ready) + transfer.duration;
    }
    return busy;
  }

 private:
  static constexpr std::int64_t never = INT64_MAX;

  struct Transfer {
    std::size_t stream;
    std::int64_t ready;
    std::int64_t duration;
  };

  struct Left {
    std::size_t place;
    std::int64_t ready;
    std::int64_t left;
  };

  struct Queue {
    std::size_t stream;
    std::vector<Left> transfers;
    std::size_t head = 0;

    Left& front() { return transfers[head]; }

    bool served_until(std::int64_t now) {
      return head < transfers.size() && front().left == 0 && front().ready <= now;
    }
  };

  std::vector<Queue> queues_of_streams() const {
    std::vector<Queue> queues;
    for (std::size_t i = 0; i < booked_.size(); ++i) {
      const Transfer& t = booked_[i];
      auto mine = std::find_if(queues.begin(), queues.end(),
                               [&](const Queue& q) { return q.stream == t.stream; });
      if (mine == queues.end()) {
        mine = queues.insert(queues.end(), {.stream = t.stream, .transfers = {}});
      }
      mine->transfers.push_back({i, t.ready, t.duration});
    }
    return queues;
  }

  static std::int64_t serve(const std::vector<Left*>& active, std::int64_t now, std::int64_t next) {
    const auto sharing = static_cast<std::int64_t>(active.size());
    std::int64_t step = never;
    for (const Left* a : active) {
      step = std::min(step, sharing * a->left);
    }
    step = next == never ? step : std::min(step, next - now);
    std::int64_t more = step % sharing;
    for (Left* a : active) {
      a->left -= std::min(a->left, step / sharing + (more-- > 0 ? 1 : 0));
    }
    return now + step;
  }

  std::vector<Transfer> booked_;
};

}  // namespace ringside
