// `ringside parity`: products of parallel dimensions, each set beside one process, in one table.
#pragma once

#include <chrono>

namespace ringside {

struct ParityRequest {
  int ranks = 8;
  std::chrono::nanoseconds timeout = std::chrono::seconds(30);  // of every wait
  bool full = false;
  bool json = false;
};

// Prints a row a plan; exit code 0 when every row holds, otherwise 1. Throws PeerLost when a rank
// is lost: the machine's fault, not the plan's.
int parity_verb(const ParityRequest& request);

}  // namespace ringside
