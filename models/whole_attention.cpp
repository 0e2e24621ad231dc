#include "models/whole_attention.hpp"

namespace ringside {

template <class T>
Tensor WholeAttention<T>::forward(const AttentionCall& call, const Tensor& q, const Tensor& k,
                                  const Tensor& v, std::vector<Tensor>& kept) {
  const Tensor weights = core(call).weights(q, k, call.sequences, call.pass);
  Tensor mixed = core(call).mix(weights, v, call.sequences, call.pass);
  kept = {q, k, v};
  if (recompute_ != Recompute::selective) {
    kept.push_back(weights);
  }
  return mixed;
}

template <class T>
AttentionGradients WholeAttention<T>::backward(const AttentionCall& call, const Tensor& /*out*/,
                                               const Tensor& grad_out,
                                               const std::vector<Tensor>& kept) {
  const Tensor& q = kept.at(0);
  const Tensor& k = kept.at(1);
  const Tensor weights = recompute_ == Recompute::selective
                             ? core(call).weights(q, k, call.sequences, Pass::recompute)
                             : kept.at(3);
  return core(call).backward(grad_out, weights, q, k, kept.at(2), call.sequences);
}

template class WholeAttention<float>;
template class WholeAttention<double>;

}  // namespace ringside
