// A transformer block: y = x + attention(norm1(x)), z = y + mlp(norm2(y)) (Touvron et al. 2023,
// LLaMA, section 2.2).
#pragma once

#include "models/attention.hpp"
#include "models/recompute.hpp"
#include "models/rms_norm.hpp"
#include "models/swiglu.hpp"

namespace ringside {

template <class T>
class Block : public Layer {
 public:
  Block(Device device, std::string name, RmsNorm<T> norm1, Attention<T> attention, RmsNorm<T> norm2,
        SwiGlu<T> mlp, Recompute recompute)
      : device_(device),
        name_(std::move(name)),
        norm1_(std::move(norm1)),
        attention_(std::move(attention)),
        norm2_(std::move(norm2)),
        mlp_(std::move(mlp)),
        recompute_(recompute) {}

  const std::string& name() const override { return name_; }

  // With full recompute nothing but `in` is saved, and backward_input runs forward again first,
  // through the seams too.
  Tensor forward(const Tensor& in, Saved& saved) override;
  Tensor backward_input(const Tensor& grad_out, Saved& saved) override;
  void backward_weight(Saved& saved) override;

  // Of norm1, attention, norm2 and mlp, in this order.
  std::vector<Parameter*> parameters() override;

 private:
  Tensor run(const Tensor& in, Saved& saved);
  Tensor sum(const Tensor& a, const Tensor& b, const char* what) const;

  Device device_;
  std::string name_;
  RmsNorm<T> norm1_;
  Attention<T> attention_;
  RmsNorm<T> norm2_;
  SwiGlu<T> mlp_;
  Recompute recompute_;
};

}  // namespace ringside
