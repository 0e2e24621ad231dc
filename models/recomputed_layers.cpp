#include "models/recomputed_layers.hpp"

namespace ringside {

Tensor RecomputedLayers::run(const Tensor& in, Saved& saved) {
  saved.parts.assign(layers_.size(), Saved{.sequences = saved.sequences, .pass = saved.pass});
  Tensor x = in;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    x = layers_[i]->forward(x, saved.parts[i]);
  }
  return x;
}

Tensor RecomputedLayers::forward(const Tensor& in, Saved& saved) {
  Tensor out = run(in, saved);
  saved.parts.clear();
  saved.tensors = {in};
  return out;
}

Tensor RecomputedLayers::backward_input(const Tensor& grad_out, Saved& saved) {
  saved.pass = Pass::recompute;
  run(saved.tensors.at(0), saved);
  saved.tensors.clear();
  Tensor grad = grad_out;
  for (std::size_t i = layers_.size(); i-- > 0;) {
    grad = layers_[i]->backward_input(grad, saved.parts[i]);
  }
  return grad;
}

void RecomputedLayers::backward_weight(Saved& saved) {
  for (std::size_t i = layers_.size(); i-- > 0;) {
    layers_[i]->backward_weight(saved.parts.at(i));
  }
  saved.parts.clear();
}

std::vector<Parameter*> RecomputedLayers::parameters() {
  std::vector<Parameter*> all;
  for (const auto& layer : layers_) {
    const auto own = layer->parameters();
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

}  // namespace ringside
