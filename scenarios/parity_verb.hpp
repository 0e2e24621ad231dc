// `ringside parity`: products of parallel dimensions, each set beside one process, in one table.
#pragma once

namespace ringside {

struct ParityRequest {
  int ranks = 8;
  bool full = false;
  bool json = false;
};

// Prints a row a plan; exit code 0 when every row holds, otherwise 1.
int parity_verb(const ParityRequest& request);

}  // namespace ringside
