// The core of attention, between the projections, as a part that can be replaced from outside:
// what queries, keys and values become (Vaswani et al. 2017, section 3.2.1).
//
// A token sees itself and those before it in its sample. In one process all of them are there
// (whole_attention.hpp); context parallelism, whose ranks have a part of each sample, puts another
// in its place.
#pragma once

#include <string_view>
#include <vector>

#include "models/layer.hpp"

namespace ringside {

struct Heads {
  std::size_t queries = 1;
  std::size_t kv = 1;   // divides queries: query head h goes with KV head h / (queries / kv)
  std::size_t dim = 1;  // of a head
};

// Which layer asks, and of what.
struct AttentionCall {
  std::string_view layer;  // its name: "layers.3.attention"
  Heads heads;             // of this rank
  const Sequences& sequences;
  Pass pass = Pass::forward;
};

struct AttentionGradients {
  Tensor q;
  Tensor k;
  Tensor v;
};

class CausalAttention {
 public:
  virtual ~CausalAttention() = default;

  // `q`: [rows, queries * dim], `k` and `v`: [rows, kv * dim]; positions are in them by now.
  // Returns [rows, queries * dim]. What backward needs goes into `kept`, which is empty; the
  // result is kept by the caller.
  virtual Tensor forward(const AttentionCall& call, const Tensor& q, const Tensor& k,
                         const Tensor& v, std::vector<Tensor>& kept) = 0;

  // Gradients of the shapes of q, k and v. `out`: what forward returned.
  virtual AttentionGradients backward(const AttentionCall& call, const Tensor& out,
                                      const Tensor& grad_out, const std::vector<Tensor>& kept) = 0;
};

}  // namespace ringside
