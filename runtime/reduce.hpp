// The reduction kernel: element by element, the only place where two ranks' numbers meet.
#pragma once

#include "runtime/buffer.hpp"

namespace ringside {

// into = op(incoming, into), in this order of operands. NaN propagates in min and max. avg adds,
// like sum: the division is finish_average's. u8 and integers wrap.
// Throws BadUse when types or counts differ.
void reduce(Buffer incoming, Buffer into, ReduceOp op);

// into = into / group_size for avg (integers round toward zero); nothing for the other operations.
void finish_average(Buffer into, ReduceOp op, int group_size);

}  // namespace ringside
