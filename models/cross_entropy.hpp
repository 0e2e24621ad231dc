// Softmax and cross-entropy, summed over the counted tokens.
#pragma once

#include <cstdint>
#include <span>

#include "models/layer.hpp"

namespace ringside {

struct LossSum {
  double loss = 0;  // in nats: the sum over tokens, never the mean, added in f64 in token order
  Tensor grad;      // of that sum by the logits: [tokens, vocab]
};

// `logits`: [tokens, vocab]. A token's loss and gradient do not depend on the tokens beside it.
// Throws BadUse unless there is one target for each row, within vocab.
template <class T>
LossSum cross_entropy(Device device, const Tensor& logits, std::span<const std::int32_t> targets);

}  // namespace ringside
