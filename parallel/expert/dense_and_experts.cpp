#include "parallel/expert/dense_and_experts.hpp"

namespace ringside {

void DenseAndExperts::begin_step() {
  dense_.begin_step();
  experts_.begin_step();
}

LayerHooks& DenseAndExperts::begin_microbatch(int microbatch, int microbatches) {
  dense_hooks_ = &dense_.begin_microbatch(microbatch, microbatches);
  expert_hooks_ = &experts_.begin_microbatch(microbatch, microbatches);
  return *this;
}

void DenseAndExperts::end_microbatch() {
  dense_.end_microbatch();
  experts_.end_microbatch();
}

void DenseAndExperts::end_step() {
  dense_.end_step();
  experts_.end_step();
}

void DenseAndExperts::before_forward(std::size_t layer) {
  dense_hooks_->before_forward(layer);
  expert_hooks_->before_forward(layer);
}

void DenseAndExperts::after_forward(std::size_t layer) {
  dense_hooks_->after_forward(layer);
  expert_hooks_->after_forward(layer);
}

void DenseAndExperts::before_backward(std::size_t layer) {
  dense_hooks_->before_backward(layer);
  expert_hooks_->before_backward(layer);
}

void DenseAndExperts::before_weight_gradient(std::size_t layer) {
  dense_hooks_->before_weight_gradient(layer);
  expert_hooks_->before_weight_gradient(layer);
}

void DenseAndExperts::after_backward(std::size_t layer) {
  dense_hooks_->after_backward(layer);
  expert_hooks_->after_backward(layer);
}

}  // namespace ringside
