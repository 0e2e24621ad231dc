#include "scenarios/modelled_clocks.hpp"

#include <algorithm>
#include <span>

#include "runtime/errors.hpp"

namespace ringside {

// The latest of all clocks goes once round the ring, which moves them by at most one message a
// step: all can wait for that time.
void align_modelled_clocks(Comm& comm) {
  Rank& rank = comm.owner();
  const std::int64_t before = rank.now().count();
  std::int64_t mine = before, theirs = 0, latest = before;
  for (int step = 1; step < comm.size(); ++step) {
    comm.send_recv(comm.next(), buffer_of(std::span(&mine, 1)), comm.prev(),
                   buffer_of(std::span(&theirs, 1)));
    latest = std::max(latest, theirs);
    mine = theirs;
  }
  const Cluster& cluster = rank.cluster();
  const auto message = [](const Link& link) {
    return add(link.latency, link.duration(sizeof(std::int64_t)));
  };
  const Time slowest = std::max(message(cluster.nvlink), message(cluster.ib));
  const Time meeting = add(Time{latest}, slowest * (comm.size() - 1));
  if (rank.now() > meeting) {
    throw PeerLost("rank " + std::to_string(rank.id()) + " is at modelled time " +
                   to_string(rank.now()) + ", past the " + to_string(meeting) +
                   " at which all ranks should meet");
  }
  rank.advance_to(meeting);
}

}  // namespace ringside
