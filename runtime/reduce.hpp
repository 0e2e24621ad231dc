// The reduction kernels: element by element, the only place where two ranks' numbers meet.
//
// bf16 and f16 are computed in f32 and rounded once per call. NaN propagates in min and max; a sum
// or product that is NaN is always the same one, whatever went into it. Integers wrap. avg adds,
// like sum: the division is finish_average's. Meta buffers are checked, and nothing is computed.
// Algorithms use the verbs of Comm, which reduce symbols too.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/buffer.hpp"

namespace ringside {

// Which operand stands left: the rounding does not care, but zeros of both signs and proofs do.
enum class Left : std::uint8_t { incoming, into };

// into = op(incoming, into), or op(into, incoming).
// Throws BadUse when types or counts differ.
void reduce(Buffer incoming, Buffer into, ReduceOp op, Left left = Left::incoming);

// Every one of `results` = op(…op(op(operands[0], operands[1]), operands[2])…, operands.back()).
// Each operand is read once and each result written once, in blocks that stay in the cache; a
// result may be one of the operands. Throws BadUse when types or counts differ.
void reduce_all(std::span<const Buffer> operands, std::span<const Buffer> results, ReduceOp op);

// into = into / group_size for avg (integers round toward zero); nothing for the other operations.
void finish_average(Buffer into, ReduceOp op, int group_size);

// The elements as another floating-point type. Throws BadUse when one is none, or counts differ.
void convert(Buffer from, Buffer to);

}  // namespace ringside
