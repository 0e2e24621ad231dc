// All-to-all: chunk j of rank i's input becomes chunk i of rank j's output; p equal chunks.
#pragma once

#include "collectives/algorithm.hpp"

namespace ringside {

using AllToAll = Algorithm<void(Comm&, Buffer in, Buffer out)>;
std::span<const AllToAll> all_to_all_algorithms();

// `in` and `out` have the same count, a multiple of the group's size, and do not overlap; throws
// BadUse with the numbers otherwise.
void all_to_all(Comm& comm, Buffer in, Buffer out, Choice choice = {"pairwise"});

}  // namespace ringside
