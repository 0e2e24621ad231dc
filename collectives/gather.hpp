// Gather: the root ends with every rank's chunk.
#pragma once

#include "collectives/algorithm.hpp"

namespace ringside {

using Gather = Algorithm<void(Comm&, Buffer data, int root)>;
std::span<const Gather> gather_algorithms();

// In place: `data` holds all n elements on every rank, of which a rank gives its own chunk; on
// those that are not the root the rest is left as it was. Throws BadUse when there is no such root.
void gather(Comm& comm, Buffer data, int root = 0, Choice choice = {"linear"});

}  // namespace ringside
