// Where a model that is cut over ranks can be sewn together from outside (Shoeybi et al. 2019,
// Megatron-LM, section 3: f and g).
//
// Between enter and leave every rank computes a part, from all tokens. Outside, what the ranks hold
// is equal, or, with sequence parallelism, each has a part of the tokens.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "runtime/tensor.hpp"

namespace ringside {

// The identity everywhere: a model that is not cut. `label` is the layer's name ("layers.3.mlp"),
// `tokens` the micro-batch's, which are all rows between enter and leave. Tensors are [rows,
// hidden] and may come back as they are; partial ones are nobody else's, so they may be written
// into.
class Seam {
 public:
  virtual ~Seam() = default;

  // f: what the ranks hold becomes what each computes its part from. Its backward sums the ranks'
  // partial gradients.
  virtual Tensor enter(Tensor x, std::size_t /*tokens*/, std::string_view /*label*/) { return x; }

  virtual Tensor enter_backward(Tensor partial_grad, std::string_view /*label*/) {
    return partial_grad;
  }

  // g: the ranks' partial results are summed. Its backward gives every rank the whole gradient.
  virtual Tensor leave(Tensor partial, std::string_view /*label*/) { return partial; }

  virtual Tensor leave_backward(Tensor grad, std::size_t /*tokens*/, std::string_view /*label*/) {
    return grad;
  }

  // In place, over the ranks that hold the vocabulary: the softmax needs the largest logit and two
  // sums of each token. f64.
  virtual void largest_over_vocabulary(const Tensor& /*values*/, std::string_view /*label*/) {}

  virtual void sum_over_vocabulary(const Tensor& /*values*/, std::string_view /*label*/) {}
};

}  // namespace ringside
