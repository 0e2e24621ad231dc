// What a GPT keeps between forward and backward, counted: what its layers really save.
#pragma once

#include <cstdint>
#include <vector>

#include "models/gpt_cut.hpp"

namespace ringside {

// Bytes that a block adds to the activations for samples of these lengths, its output included and
// its input not; on one rank, without sequence parallelism. With full recomputation, its output
// alone, which is the next layer's input.
std::int64_t block_activations(const GptConfig& config, const std::vector<std::size_t>& lengths,
                               Cut cut = {});

}  // namespace ringside
