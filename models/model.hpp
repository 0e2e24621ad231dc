// A model: layers in forward order, and the loss of what the last one returns.
//
// forward_backward runs them all. Pipelines drive single layers instead: input_of, layer(i) and
// loss are its parts.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "models/cross_entropy.hpp"
#include "models/data.hpp"
#include "models/layer.hpp"
#include "models/layer_hooks.hpp"

namespace ringside {

class Model {
 public:
  // Sum of the token losses, and its gradient by the logits.
  using Loss = std::function<LossSum(const Tensor& logits, std::span<const std::int32_t> targets)>;

  // `context`: tokens that a prediction sees, side by side.
  Model(Device device, std::size_t context, std::vector<std::unique_ptr<Layer>> layers, Loss loss)
      : device_(device), context_(context), layers_(std::move(layers)), loss_(std::move(loss)) {}

  // The parameters by layer in forward order. A parameter that two layers use is listed once.
  std::vector<std::vector<Parameter*>> layers();

  // Forward and backward of one micro-batch: adds the gradient of the sum of its token losses to
  // the gradients, and returns that sum, in nats. No token is an ordinary case. Activations are
  // freed on return. Throws BadUse when the batch has another context than the model.
  double forward_backward(const Batch& batch, LayerHooks& hooks);
  double forward_backward(const Batch& batch);

  // From now on losses are multiplied by this before backward, and so are all gradients; the loss
  // that is returned is not.
  void scale_loss(double scale);

  // Layer::share_statistics of every layer.
  void share_statistics(BatchSums& sums);

  std::size_t layer_count() const { return layers_.size(); }

  Layer& layer(std::size_t i) { return *layers_.at(i); }

  // What the first layer takes: [tokens, context], i32; meta where the device memory is.
  Tensor input_of(const Batch& batch) const;

  // Its gradient is scaled.
  LossSum loss(const Tensor& logits, const Batch& batch) const;

 private:
  Device device_;
  std::size_t context_;
  std::vector<std::unique_ptr<Layer>> layers_;
  Loss loss_;
  double loss_scale_ = 1;
};

}  // namespace ringside
