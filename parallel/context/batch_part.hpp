// A rank's part of every sample of a batch.
#pragma once

#include "models/data.hpp"
#include "parallel/context/token_blocks.hpp"
#include "parallel/fault.hpp"

namespace ringside {

// Contexts, targets and positions are those of the tokens in their whole samples, whoever has the
// tokens before them. Padding has context 0, the place after the tokens as its position, and is
// not counted.
Batch part_of(const Batch& whole, const TokenBlocks& blocks, int rank, Fault fault = Fault::none);

}  // namespace ringside
