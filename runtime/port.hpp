// A port: one direction of one link class of one rank, shared by the rank's streams.
//
// Booked in the program order of its own rank, never in the order in which messages physically
// come in, so that modelled times depend on no scheduler. A transfer starts at once even beside
// another stream's; the stream it took bandwidth from pays with its next transfer. So the total
// never passes the bandwidth, nothing stalls behind a backlog, and there is no event queue.
// docs/time.md has the rule and its comparison with a fairly shared link.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/units.hpp"

namespace ringside {

struct Booking {
  Time start;
  Time end;
};

class Port {
 public:
  // Books a transfer of `duration` for `stream`, not before `ready`.
  Booking book(std::size_t stream, Time ready, Time duration);

  // When the stream's work on this port ends, debts included; zero when it has done none.
  Time free(std::size_t stream) const;

  // The stream's last transfer ended later than booked (its sender was late).
  void extend(std::size_t stream, Time end);

 private:
  Time& slot(std::size_t stream);

  std::vector<Time> free_;  // by stream
  Time all_{0};             // end of all work
};

}  // namespace ringside
