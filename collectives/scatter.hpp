// Scatter: every rank ends with its chunk of the root's buffer.
#pragma once

#include "collectives/algorithm.hpp"

namespace ringside {

using Scatter = Algorithm<void(Comm&, Buffer data, int root)>;
std::span<const Scatter> scatter_algorithms();

// In place: `data` has all n elements on every rank; the root's chunk r arrives in chunk r of rank
// r, and the rest there is left as it was. Every rank names the same n, or it is a Desync. Throws
// BadUse when there is no such root.
void scatter(Comm& comm, Buffer data, int root = 0, Choice choice = {"linear"});

}  // namespace ringside
