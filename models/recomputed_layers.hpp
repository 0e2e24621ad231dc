// Layers in a row that keep nothing but the first one's input: backward runs their forward again
// first (Chen et al. 2016).
#pragma once

#include "models/layer.hpp"

namespace ringside {

class RecomputedLayers : public Layer {
 public:
  RecomputedLayers(std::string name, std::vector<std::unique_ptr<Layer>> layers)
      : name_(std::move(name)), layers_(std::move(layers)) {}

  const std::string& name() const override { return name_; }

  Tensor forward(const Tensor& in, Saved& saved) override;
  // What the layers charge for forward is charged again, as recompute.
  Tensor backward_input(const Tensor& grad_out, Saved& saved) override;
  void backward_weight(Saved& saved) override;

  // Of all layers, in this order.
  std::vector<Parameter*> parameters() override;

 private:
  Tensor run(const Tensor& in, Saved& saved);

  std::string name_;
  std::vector<std::unique_ptr<Layer>> layers_;
};

}  // namespace ringside
