// Attention of samples that are whole in this process: the score matrices at once.
#pragma once

#include "models/attention_core.hpp"
#include "models/recompute.hpp"

namespace ringside {

template <class T>
class WholeAttention : public CausalAttention {
 public:
  // With selective recompute the softmax weights are not kept, and computed again in backward.
  explicit WholeAttention(Device device, Recompute recompute = Recompute::none)
      : device_(device), recompute_(recompute) {}

  // Keeps q, k, v and the softmax weights.
  Tensor forward(const AttentionCall& call, const Tensor& q, const Tensor& k, const Tensor& v,
                 std::vector<Tensor>& kept) override;
  AttentionGradients backward(const AttentionCall& call, const Tensor& out, const Tensor& grad_out,
                              const std::vector<Tensor>& kept) override;

 private:
  AttentionCore<T> core(const AttentionCall& call) const {
    return {device_, std::string(call.layer), call.heads};
  }

  Device device_;
  Recompute recompute_;
};

}  // namespace ringside
