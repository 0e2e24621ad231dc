// Softmax and cross-entropy, summed over the counted tokens.
#pragma once

#include <cstdint>
#include <span>

#include "models/layer.hpp"
#include "models/seam.hpp"

namespace ringside {

struct LossSum {
  double loss = 0;  // in nats: the sum over tokens, never the mean, added in f64 in token order
  Tensor grad;      // of that sum by the logits: [tokens, vocab]
};

// The columns of the logits are tokens [first, first + real) of a vocabulary of `whole`, and after
// them padding, which counts nowhere and whose gradient is 0.
struct VocabularyShard {
  std::size_t first = 0;
  std::size_t real = 0;
  std::size_t whole = 0;
};

// `logits`: [tokens, vocab]. A token's loss and gradient do not depend on the tokens beside it;
// those of an uncounted target (data.hpp) are 0. Throws BadUse unless there is one target for each
// row, within vocab. Of meta logits the loss is 0.
template <class T>
LossSum cross_entropy(Device device, const Tensor& logits, std::span<const std::int32_t> targets);

// The same, of a vocabulary that is cut over ranks (Megatron-LM, section 3): the loss is the whole
// one on every rank, the gradient that of this rank's logits. What the ranks must agree on goes
// through the seam: one maximum and two sums of each token, 24 bytes.
template <class T>
LossSum cross_entropy(Device device, const Tensor& logits, std::span<const std::int32_t> targets,
                      VocabularyShard shard, Seam& seam);

}  // namespace ringside
