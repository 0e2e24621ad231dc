#include "parallel/pipeline/stage.hpp"

namespace ringside {

Tensor Stage::forward(int microbatch, Tensor x, const std::shared_ptr<const Sequences>& sequences,
                      LayerHooks& hooks) {
  auto& saved = saved_[microbatch];
  saved.assign(count_, Saved{.sequences = sequences});
  for (std::size_t i = 0; i < count_; ++i) {
    hooks.before_forward(first_ + i);
    x = layer(i).forward(x, saved[i]);
    hooks.after_forward(first_ + i);
  }
  return x;
}

Tensor Stage::backward(int microbatch, Tensor grad, LayerHooks& hooks) {
  auto& saved = saved_.at(microbatch);
  for (std::size_t i = count_; i-- > 0;) {
    hooks.before_backward(first_ + i);
    grad = layer(i).backward_input(grad, saved[i]);
    add_weight_gradient(i, saved[i], hooks);
  }
  saved_.erase(microbatch);
  return grad;
}

Tensor Stage::input_gradient(int microbatch, Tensor grad, LayerHooks& hooks) {
  auto& saved = saved_.at(microbatch);
  for (std::size_t i = count_; i-- > 0;) {
    hooks.before_backward(first_ + i);
    grad = layer(i).backward_input(grad, saved[i]);
  }
  return grad;
}

void Stage::weight_gradient(int microbatch, LayerHooks& hooks) {
  auto& saved = saved_.at(microbatch);
  for (std::size_t i = count_; i-- > 0;) {
    add_weight_gradient(i, saved[i], hooks);
  }
  saved_.erase(microbatch);
}

void Stage::forget(int microbatch, LayerHooks& hooks) {
  for (std::size_t i = count_; i-- > 0;) {
    hooks.before_weight_gradient(first_ + i);
    hooks.after_backward(first_ + i);
  }
  saved_.erase(microbatch);
}

void Stage::add_weight_gradient(std::size_t i, Saved& saved, LayerHooks& hooks) {
  hooks.before_weight_gradient(first_ + i);
  layer(i).backward_weight(saved);
  hooks.after_backward(first_ + i);
}

}  // namespace ringside
