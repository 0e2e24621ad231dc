// Small calculations whose result is a property, not a number: they are run on random weights.
#pragma once

#include <cstdint>

namespace ringside {

// |mean of the gradients of 8 shards - gradient of the whole batch|, the largest of 16: a linear
// model with squared error on 64 samples, in f32.
double shard_mean_difference(std::uint64_t seed);

// An MLP gelu(X A) B of 5 tokens, width 4 and inner width 8 on 2 ranks, in f64: the largest
// difference of what they add up to from the undivided MLP. (Megatron-LM, section 3.)
// A cut by columns, B by rows: each rank has whole columns of gelu's input.
double column_row_difference(std::uint64_t seed);
// A cut by rows: gelu is applied to parts of sums.
double row_first_difference(std::uint64_t seed);

}  // namespace ringside
