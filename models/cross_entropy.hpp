// Softmax and cross-entropy, summed over the counted tokens.
#pragma once

#include <cstdint>
#include <span>

#include "models/layer.hpp"

namespace ringside {

struct LossSum {
  double loss = 0;  // in nats, the sum over tokens, added in f64
  Tensor grad;      // of that sum by the logits: [tokens, vocab]
};

template <class T>
LossSum cross_entropy(Device device, const Tensor& logits, std::span<const std::uint8_t> targets);

}  // namespace ringside
