// Reduce: the root ends with the reduction of all ranks' buffers.
#pragma once

#include "collectives/algorithm.hpp"

namespace ringside {

using Reduce = Algorithm<void(Comm&, Buffer data, ReduceOp, int root)>;
std::span<const Reduce> reduce_algorithms();

// In place on the root; the data of the others is left as it was. avg divides the sum by the size
// of the group. Throws BadUse when there is no such root.
void reduce(Comm& comm, Buffer data, ReduceOp op = ReduceOp::sum, int root = 0,
            Choice choice = {"linear"});

}  // namespace ringside
