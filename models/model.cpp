#include "models/model.hpp"

#include <algorithm>
#include <numeric>

#include "models/tensor_elements.hpp"
#include "runtime/errors.hpp"

namespace ringside {

namespace {

void require_fitting(const Batch& batch, std::size_t context) {
  const std::string tokens = std::to_string(batch.targets.size());
  if (batch.contexts.size() != batch.targets.size() * context) {
    throw BadUse("a batch of " + tokens + " tokens with " + std::to_string(batch.contexts.size()) +
                 " context tokens does not fit a model of " + std::to_string(context) +
                 " context tokens a token");
  }
  const auto in_samples =
      std::accumulate(batch.lengths.begin(), batch.lengths.end(), std::size_t{0});
  if (in_samples != batch.targets.size()) {
    throw BadUse("a batch of " + tokens + " tokens, but its " +
                 std::to_string(batch.lengths.size()) + " samples have " +
                 std::to_string(in_samples));
  }
}

}  // namespace

std::vector<std::vector<Parameter*>> Model::layers() {
  std::vector<std::vector<Parameter*>> all;
  for (const auto& layer : layers_) {
    all.push_back(layer->parameters());
  }
  return all;
}

double Model::forward_backward(const Batch& batch, LayerHooks& hooks) {
  Tensor x = input_of(batch);
  std::vector<Saved> saved(layers_.size(), Saved{.sequences = sequences_of(batch)});
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    hooks.before_forward(i);
    x = layers_[i]->forward(x, saved[i]);
    hooks.after_forward(i);
  }
  auto [sum, grad] = loss(x, batch);
  x = Tensor();
  for (std::size_t i = layers_.size(); i-- > 0;) {
    hooks.before_backward(i);
    grad = layers_[i]->backward_input(grad, saved[i]);
    hooks.before_weight_gradient(i);
    layers_[i]->backward_weight(saved[i]);
    hooks.after_backward(i);
  }
  return sum;
}

void Model::scale_loss(double scale) {
  loss_scale_ = scale;
  for (const auto& layer : layers_) {
    layer->scale_loss(scale);
  }
}

void Model::share_statistics(BatchSums& sums) {
  for (const auto& layer : layers_) {
    layer->share_statistics(sums);
  }
}

LossSum Model::loss(const Tensor& logits, const Batch& batch) const {
  LossSum sum = loss_(logits, batch.targets);
  if (loss_scale_ != 1) {
    map_elements(sum.grad, [&](auto g) { return g * static_cast<decltype(g)>(loss_scale_); });
  }
  return sum;
}

double Model::forward_backward(const Batch& batch) {
  LayerHooks none;
  return forward_backward(batch, none);
}

Tensor Model::input_of(const Batch& batch) const {
  require_fitting(batch, context_);
  Tensor contexts(device_.memory, DType::i32, {batch.targets.size(), context_},
                  Category::activations, "contexts");
  if (!contexts.meta()) {
    std::copy(batch.contexts.begin(), batch.contexts.end(), contexts.as<std::int32_t>().begin());
  }
  return contexts;
}

}  // namespace ringside
