// A layer whose weights and gradients are bf16 and whose arithmetic is f32.
//
// Around each call of the layer inside, its weights exist as f32 copies, and around the weight
// gradient so do its gradients, from zero: in the ledger as buffers, of one layer at a time. A
// micro-batch's gradient is summed in f32 and then added to the bf16 gradient, which is rounded
// once: micro-batches accumulate in bf16.
#pragma once

#include <map>
#include <memory>

#include "models/layer.hpp"

namespace ringside {

// A parameter of the layer inside, empty between calls, and the bf16 one that stands for it.
struct HalfParameter {
  Parameter* inside;
  Parameter stored;  // bf16
};

using HalfParameters = std::map<Parameter*, std::shared_ptr<HalfParameter>>;

// Activations stay f32.
class HalfLayer : public Layer {
 public:
  // Rounds the parameters of `inside`, f32, to bf16. `known`: those of the model's layers made so
  // far, where the borrowed ones are found; the new ones are added.
  HalfLayer(Device device, std::unique_ptr<Layer> inside, HalfParameters& known);

  const std::string& name() const override { return inside_->name(); }

  Tensor forward(const Tensor& in, Saved& saved) override;
  Tensor backward_input(const Tensor& grad_out, Saved& saved) override;
  void backward_weight(Saved& saved) override;

  std::vector<Parameter*> parameters() override;
  std::vector<Parameter*> borrowed() override;

  void scale_loss(double scale) override { inside_->scale_loss(scale); }

  void share_statistics(BatchSums& sums) override { inside_->share_statistics(sums); }

  std::vector<RouterState*> routers() override { return inside_->routers(); }

 private:
  class Copies;

  Device device_;
  std::unique_ptr<Layer> inside_;
  std::vector<std::shared_ptr<HalfParameter>> own_;
  std::vector<std::shared_ptr<HalfParameter>> borrowed_;
};

}  // namespace ringside
