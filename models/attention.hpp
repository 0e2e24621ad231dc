// Causal self-attention with rotary positions and grouped KV heads, as in Llama: q, k, v; rotary;
// core; o. No bias.
//
// Of a model that is cut, a rank has whole heads: columns of q, k and v, rows of o (Megatron-LM,
// section 3).
#pragma once

#include <memory>

#include "models/causal_attention.hpp"
#include "models/projection.hpp"
#include "models/seam.hpp"

namespace ringside {

template <class T>
class Attention : public Layer {
 public:
  struct Options {
    Heads heads;  // of this rank
    double rope_base = 10'000;
  };

  struct Weights {
    Parameter q;  // [hidden, queries * dim]
    Parameter k;  // [hidden, kv * dim]
    Parameter v;  // [hidden, kv * dim]
    Parameter o;  // [queries * dim, hidden]
  };

  Attention(Device device, std::string name, Options options, Weights weights,
            std::shared_ptr<Seam> seam, std::shared_ptr<CausalAttention> core);

  const std::string& name() const override { return name_; }

  // Saves what entered, the mixed values and what the core keeps of q and k (turned) and v.
  Tensor forward(const Tensor& in, Saved& saved) override;
  Tensor backward_input(const Tensor& grad_out, Saved& saved) override;
  void backward_weight(Saved& saved) override;

  std::vector<Parameter*> parameters() override;

 private:
  AttentionCall call(const Saved& saved) const {
    return {name_, options_.heads, *saved.sequences, saved.pass};
  }

  std::string name_;
  Options options_;
  Projection<T> q_;
  Projection<T> k_;
  Projection<T> v_;
  Projection<T> o_;
  std::shared_ptr<Seam> seam_;
  std::shared_ptr<CausalAttention> core_;
};

}  // namespace ringside
