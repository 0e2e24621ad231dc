// A port: one direction of one link class of one rank, shared by the rank's streams.
//
// Announce once, simulate truly. A port keeps what was booked on it; what it does is a fluid fair
// share: streams that have something to send at an instant share it equally, each stream first in,
// first out. The end announced for a transfer is its end in the fluid model of all bookings so far,
// and is never taken back; later bookings push what is booked after them. Booked in the program
// order of its own rank, never in the order in which messages physically come in, so that modelled
// times depend on no scheduler. docs/time.md has the rule and what it promises.
//
// The model is kept up to one instant, with a check point at every event before it. A booking goes
// back to its start and from there no further on than it must: once no gap lies ahead, the streams
// share without a pause, and every end is a sum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/units.hpp"

namespace ringside {

struct Booking {
  Time start;
  Time end;
};

class Port {
 public:
  // How many of the transfers that ended before its rank's program it keeps: a receiver that comes
  // late books into the past.
  explicit Port(std::size_t kept = 0) : kept_(kept) {}

  // Books a transfer of `duration` for `stream`, not before `ready`, nor before what was forgotten.
  // Its start is the end of the stream's transfer before it, as it is known now, or `ready`.
  Booking book(std::size_t stream, Time ready, Time duration);

  // When the stream's last transfer ends by all that is booked; zero when it has none.
  Time end(std::size_t stream);

  // The rank's program has come to `program`: what ended before may be forgotten.
  void forget(Time program);

  // Check points and transfers: what the port holds in memory.
  std::size_t held() const;

 private:
  struct Transfer {
    Time ready;  // 0 when it follows at once on its stream's transfer before it
    Time duration;
    Time before;  // what its stream had booked before it
  };

  // How far a stream is: its transfers before `next` have ended, `next` has been served for so
  // long.
  struct Head {
    std::size_t next = 0;
    Time served{0};
  };

  struct Queue {
    std::size_t stream;
    std::size_t forgotten = 0;  // transfers before the first of `transfers`
    std::vector<Transfer> transfers;
    std::vector<Head> heads;  // at every check point
    Time end{0};              // of the last transfer, once the model has come to it
    Time booked{0};           // all durations
    Time alone{0};            // the end of all, if no other stream had booked
    Time gap{0};              // after this, each transfer follows at once on the one before it

    const Transfer& front() const { return transfers[heads.back().next - forgotten]; }

    Time left() const { return front().duration - heads.back().served; }

    Time left_in_all() const {
      return idle() ? Time{0} : booked - front().before - heads.back().served;
    }

    bool idle() const { return heads.back().next == forgotten + transfers.size(); }
  };

  // From one event to the next: what each active stream is served, and how many get 1 ps more.
  struct Stride {
    Time end;
    Time each{0};
    std::int64_t more = 0;
  };

  Queue& queue(std::size_t stream);
  void end_what_is_served(Queue& queue) const;
  bool no_gap_ahead() const;
  Time end_of(const Queue& queue);
  void back_to(Time start);
  bool idle() const;
  Stride until_next_event() const;
  void advance(Stride stride);
  std::size_t ended(std::size_t check_point) const;
  std::size_t last_check_point_until(Time program) const;

  std::size_t kept_;
  std::vector<Time> times_{Time{0}};  // of the check points, ascending
  std::vector<Queue> queues_;         // in the order of their first booking
  std::size_t tidy_at_ = 1024;        // what is held when there is something to forget
};

}  // namespace ringside
