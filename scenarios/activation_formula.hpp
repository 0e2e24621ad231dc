// Formula of the activations that a rank holds at true scale, by what they belong to, from the
// settings alone: meta layers keep their inputs, with full recompute a block keeps one.
#pragma once

#include <cstdint>

#include "scenarios/settings.hpp"

namespace ringside {

// Bytes, of the first rank, which has most samples.
struct ActivationFormula {
  std::int64_t tokens = 0;  // their numbers, i32
  // Inputs of the blocks: 2 s b h a layer with full recompute, and twice that without.
  std::int64_t blocks = 0;
  // Beside the gradient that comes in, what backward of a block holds at its fullest: with full
  // recompute its MLP's input, computed again; the gradients of both halves' inputs.
  std::int64_t in_flight = 0;
  std::int64_t others = 0;  // inputs of vision tower, prediction, final norm and head
  std::int64_t logits = 0;  // and their gradient

  // When the loss is computed.
  std::int64_t peak() const { return tokens + blocks + others + logits; }
};

ActivationFormula activation_formula(const Settings& settings);

}  // namespace ringside
