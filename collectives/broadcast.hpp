// Broadcast: every rank ends with the root's buffer.
#pragma once

#include "collectives/algorithm.hpp"

namespace ringside {

using Broadcast = Algorithm<void(Comm&, Buffer data, int root)>;
std::span<const Broadcast> broadcast_algorithms();

// In place. Throws BadUse when there is no such root.
void broadcast(Comm& comm, Buffer data, int root = 0, Choice choice = {"linear"});

}  // namespace ringside
