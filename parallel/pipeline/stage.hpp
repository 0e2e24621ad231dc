// A stage of a pipeline: consecutive layers of the model that a device has, and what they keep of
// the micro-batches that are under way.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "models/model.hpp"

namespace ringside {

class Stage {
 public:
  // Layers [first, first + count) of `model`, which outlives it.
  Stage(Model& model, std::size_t first, std::size_t count)
      : model_(model), first_(first), count_(count) {}

  // What the micro-batch's layers keep is held from here on.
  Tensor forward(int microbatch, Tensor x, const std::shared_ptr<const Sequences>& sequences,
                 LayerHooks& hooks);

  // Input gradient and weight gradient together, layer by layer; nothing is held any more.
  Tensor backward(int microbatch, Tensor grad, LayerHooks& hooks);

  // The same in two halves.
  Tensor input_gradient(int microbatch, Tensor grad, LayerHooks& hooks);
  void weight_gradient(int microbatch, LayerHooks& hooks);

  // In place of weight_gradient, a deliberate fault: adds nothing.
  void forget(int microbatch, LayerHooks& hooks);

  // Micro-batches of which something is held.
  int in_flight() const { return static_cast<int>(saved_.size()); }

 private:
  Layer& layer(std::size_t i) { return model_.layer(first_ + i); }

  void add_weight_gradient(std::size_t i, Saved& saved, LayerHooks& hooks);

  Model& model_;
  std::size_t first_;
  std::size_t count_;
  std::map<int, std::vector<Saved>> saved_;
};

}  // namespace ringside
