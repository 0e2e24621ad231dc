// Inputs whose results are known without any communication: small whole numbers, exact in every
// type, sum and order (nccl-tests' "verifiable" inputs), and the count of elements that differ.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "runtime/buffer.hpp"
#include "scenarios/operation_convention.hpp"

namespace ringside {

// One call of an operation among `ranks`; `count` is that of the whole buffer.
struct KnownCall {
  std::string_view operation;
  std::size_t count = 0;
  DType dtype = DType::f32;
  ReduceOp op = ReduceOp::none;
  int root = 0;
  int ranks = 1;
  std::function<void()> between_blocks{};  // called as the check gets on
};

// What a call has: the whole buffer, and the other one of a call out of place.
struct CallBuffers {
  Buffer data;
  Buffer other;
};

// Fills both: this rank's input where the operation reads, a foreign number everywhere else. Throws
// BadUse for a type that has no known numbers.
void fill_known(const KnownCall& call, Placement placement, int rank, CallBuffers buffers);

// After the call: how many elements of this rank's result are not what the definition says.
std::size_t wrong_elements(const KnownCall& call, Placement placement, int rank,
                           CallBuffers buffers);

// The two halves of that for an all_reduce, whose result is the same on every rank: elements
// [first, first + into.count) of it by definition, and how many elements of two buffers differ.
// Each rank defines one chunk, and they are passed round.
void define_all_reduce(const KnownCall& call, std::size_t first, Buffer into);
std::size_t differing_elements(Buffer got, Buffer expected);

}  // namespace ringside
