// The listening sockets of a job that spans nodes, made before the fork.
#pragma once

#include <cstdint>
#include <vector>

namespace ringside {

// A listening socket on 127.0.0.1 for each rank, at ports that the system chose. A port is held
// from its choice to its last use, so nobody can take it. Each is closed by the wires of its rank.
// Throws BadUse when they cannot be had.
std::vector<int> listen_on_loopback(int ranks);

// The port at which a socket listens; 0 when it is gone.
std::uint16_t port_of(int listener);

}  // namespace ringside
