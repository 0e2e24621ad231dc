// A transformer block: y = x + attention(norm1(x)), z = y + mlp(norm2(y)) (Touvron et al. 2023,
// LLaMA, section 2.2).
#pragma once

#include <memory>

#include "models/attention.hpp"
#include "models/phased_layer.hpp"
#include "models/recompute.hpp"
#include "models/rms_norm.hpp"

namespace ringside {

// The steps of the block are those of its MLP when that has any (a mixture of experts); otherwise
// the first does it all.
template <class T>
class Block : public PhasedLayer {
 public:
  Block(Device device, std::string name, RmsNorm<T> norm1, Attention<T> attention, RmsNorm<T> norm2,
        std::unique_ptr<Layer> mlp, Recompute recompute)
      : device_(device),
        name_(std::move(name)),
        norm1_(std::move(norm1)),
        attention_(std::move(attention)),
        norm2_(std::move(norm2)),
        mlp_(std::move(mlp)),
        phased_(dynamic_cast<PhasedLayer*>(mlp_.get())),
        recompute_(recompute) {}

  const std::string& name() const override { return name_; }

  // With full recompute nothing but the input is saved, and backward runs forward again first,
  // through the seams too.
  void start_forward(const Tensor& in, Saved& saved) override;
  void continue_forward(Saved& saved) override;
  Tensor finish_forward(Saved& saved) override;
  void start_backward(const Tensor& grad_out, Saved& saved) override;
  void continue_backward(Saved& saved) override;
  Tensor finish_backward(Saved& saved) override;
  void backward_weight(Saved& saved) override;

  // Of norm1, attention, norm2 and mlp, in this order.
  std::vector<Parameter*> parameters() override;

  void scale_loss(double scale) override { mlp_->scale_loss(scale); }

  std::vector<RouterState*> routers() override { return mlp_->routers(); }

 private:
  void start(const Tensor& in, Saved& saved);
  Tensor finish(Saved& saved);
  Tensor sum(const Tensor& a, const Tensor& b, const char* what) const;

  Device device_;
  std::string name_;
  RmsNorm<T> norm1_;
  Attention<T> attention_;
  RmsNorm<T> norm2_;
  std::unique_ptr<Layer> mlp_;
  PhasedLayer* phased_;  // the same, or none
  Recompute recompute_;
};

}  // namespace ringside
