#include "models/cross_entropy.hpp"

#include <algorithm>

#include "models/elementary.hpp"
#include "runtime/errors.hpp"

namespace ringside {

namespace {

void require_targets(const Tensor& logits, std::span<const std::int32_t> targets) {
  if (logits.shape().front() != targets.size()) {
    throw BadUse("cross-entropy: logits of " + std::to_string(logits.shape().front()) +
                 " tokens, but " + std::to_string(targets.size()) + " targets");
  }
  const auto vocab = static_cast<std::int32_t>(logits.shape().back());
  for (const std::int32_t target : targets) {
    if (target < 0 || target >= vocab) {
      throw BadUse("cross-entropy: target " + std::to_string(target) +
                   " is outside the vocabulary of " + std::to_string(vocab));
    }
  }
}

// Writes the softmax of `logits` into `grad`, less 1 at the target; returns the token's loss.
template <class T>
double one_token(std::span<const T> logits, std::span<T> grad, std::size_t target) {
  const T largest = *std::max_element(logits.begin(), logits.end());
  double total = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    grad[i] = static_cast<T>(exponential(static_cast<double>(logits[i] - largest)));
    total += static_cast<double>(grad[i]);
  }
  for (T& element : grad) {
    element /= static_cast<T>(total);
  }
  grad[target] -= T(1);
  return logarithm(total) - static_cast<double>(logits[target] - largest);
}

}  // namespace

template <class T>
LossSum cross_entropy(Device device, const Tensor& logits, std::span<const std::int32_t> targets) {
  require_targets(logits, targets);
  LossSum sum{.grad = Tensor(device.memory, dtype_of<T>(), logits.shape(), Category::activations,
                             "logits.grad")};
  const std::size_t vocab = logits.shape().back();
  const std::span<const T> from = logits.as<T>();
  const std::span<T> to = sum.grad.as<T>();
  for (std::size_t t = 0; t < targets.size(); ++t) {
    sum.loss += one_token<T>(from.subspan(t * vocab, vocab), to.subspan(t * vocab, vocab),
                             static_cast<std::size_t>(targets[t]));
  }
  return sum;
}

template LossSum cross_entropy<float>(Device, const Tensor&, std::span<const std::int32_t>);
template LossSum cross_entropy<double>(Device, const Tensor&, std::span<const std::int32_t>);

}  // namespace ringside
