// The errors of Ringside. A message says rank, group, operation, step and the numbers that
// disagree, and what to do.
#pragma once

#include <stdexcept>
#include <string>

namespace ringside {

// Wrong use or configuration: the caller's mistake (exit code 2).
struct BadUse : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A rank died, hung, or sent nonsense (exit code 3).
struct PeerLost : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Members of a group called different operations (exit code 4).
struct Desync : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Ranks wait for each other in a cycle (exit code 4).
struct Deadlock : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A tensor does not fit in the modelled device memory (exit code 5).
struct OutOfDeviceMemory : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace ringside
