#include "models/cross_entropy.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "models/data.hpp"
#include "models/elementary.hpp"
#include "runtime/errors.hpp"

namespace ringside {

namespace {

void require_targets(const Tensor& logits, std::span<const std::int32_t> targets,
                     std::size_t vocab) {
  if (logits.shape().front() != targets.size()) {
    throw BadUse("cross-entropy: logits of " + std::to_string(logits.shape().front()) +
                 " tokens, but " + std::to_string(targets.size()) + " targets");
  }
  for (const std::int32_t target : targets) {
    if (target != uncounted && (target < 0 || static_cast<std::size_t>(target) >= vocab)) {
      throw BadUse("cross-entropy: target " + std::to_string(target) +
                   " is outside the vocabulary of " + std::to_string(vocab));
    }
  }
}

// Token by token, between what the ranks agree on.
template <class T>
class Softmax {
 public:
  Softmax(const Tensor& logits, const Tensor& grad, std::span<const std::int32_t> targets,
          VocabularyShard shard)
      : logits_(logits.as<T>()),
        grad_(grad.as<T>()),
        cols_(logits.shape().back()),
        targets_(targets),
        shard_(shard) {}

  double largest(std::size_t token) const {
    const auto row = real(logits_, token);
    return row.empty() ? -std::numeric_limits<double>::infinity()
                       : static_cast<double>(*std::max_element(row.begin(), row.end()));
  }

  // Writes e^(logits - largest) into the gradient, and returns the sum.
  double exponentials(std::size_t token, T largest) const {
    const auto row = real(logits_, token);
    const auto out = real(grad_, token);
    double total = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      out[i] = static_cast<T>(exponential(static_cast<double>(row[i] - largest)));
      total += static_cast<double>(out[i]);
    }
    return total;
  }

  // The target's logit, less the largest; 0 where another rank has it.
  double of_target(std::size_t token, T largest) const {
    return holds_target(token) ? static_cast<double>(real(logits_, token)[target(token)] - largest)
                               : 0;
  }

  bool counts(std::size_t token) const { return targets_[token] != uncounted; }

  // The exponentials in the gradient become the softmax, less 1 at the target; 0 where none counts.
  void finish(std::size_t token, T total) const {
    if (!counts(token)) {
      std::ranges::fill(real(grad_, token), T(0));
      return;
    }
    for (T& element : real(grad_, token)) {
      element /= total;
    }
    if (holds_target(token)) {
      real(grad_, token)[target(token)] -= T(1);
    }
  }

 private:
  template <class E>
  std::span<E> real(std::span<E> all, std::size_t token) const {
    return all.subspan(token * cols_, shard_.real);
  }

  std::size_t target(std::size_t token) const {
    return static_cast<std::size_t>(targets_[token]) - shard_.first;
  }

  bool holds_target(std::size_t token) const { return target(token) < shard_.real; }

  std::span<const T> logits_;
  std::span<T> grad_;
  std::size_t cols_;
  std::span<const std::int32_t> targets_;
  VocabularyShard shard_;
};

}  // namespace

template <class T>
LossSum cross_entropy(Device device, const Tensor& logits, std::span<const std::int32_t> targets,
                      VocabularyShard shard, Seam& seam) {
  require_targets(logits, targets, shard.whole);
  const auto made = [&](DType dtype, std::vector<std::size_t> shape, const char* name) {
    return Tensor(device.memory, dtype, std::move(shape), Category::activations, name);
  };
  LossSum sum{.grad = made(dtype_of<T>(), logits.shape(), "logits.grad")};
  const Tensor largest = made(DType::f64, {targets.size()}, "logits.largest");
  const Tensor sums = made(DType::f64, {2, targets.size()}, "logits.sums");
  if (logits.meta()) {
    seam.largest_over_vocabulary(largest, "loss");
    seam.sum_over_vocabulary(sums, "loss");
    return sum;
  }
  const Softmax<T> softmax(logits, sum.grad, targets, shard);
  const auto top = largest.as<double>();
  for (std::size_t t = 0; t < targets.size(); ++t) {
    top[t] = softmax.largest(t);
  }
  seam.largest_over_vocabulary(largest, "loss");
  const auto total = sums.as<double>().first(targets.size());
  const auto of_target = sums.as<double>().last(targets.size());
  for (std::size_t t = 0; t < targets.size(); ++t) {
    total[t] = softmax.exponentials(t, static_cast<T>(top[t]));
    of_target[t] = softmax.of_target(t, static_cast<T>(top[t]));
  }
  seam.sum_over_vocabulary(sums, "loss");
  for (std::size_t t = 0; t < targets.size(); ++t) {
    softmax.finish(t, static_cast<T>(total[t]));
    sum.loss += softmax.counts(t) ? logarithm(total[t]) - of_target[t] : 0;
  }
  return sum;
}

template <class T>
LossSum cross_entropy(Device device, const Tensor& logits, std::span<const std::int32_t> targets) {
  Seam alone;
  const std::size_t vocab = logits.shape().back();
  return cross_entropy<T>(device, logits, targets, {.real = vocab, .whole = vocab}, alone);
}

template LossSum cross_entropy<float>(Device, const Tensor&, std::span<const std::int32_t>);
template LossSum cross_entropy<double>(Device, const Tensor&, std::span<const std::int32_t>);
template LossSum cross_entropy<float>(Device, const Tensor&, std::span<const std::int32_t>,
                                      VocabularyShard, Seam&);
template LossSum cross_entropy<double>(Device, const Tensor&, std::span<const std::int32_t>,
                                       VocabularyShard, Seam&);

}  // namespace ringside
