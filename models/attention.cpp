#include "models/attention.hpp"

#include "models/rotary.hpp"

namespace ringside {

template <class T>
Attention<T>::Attention(Device device, std::string name, Options options, Weights weights,
                        std::shared_ptr<Seam> seam, std::shared_ptr<CausalAttention> core)
    : name_(std::move(name)),
      options_(options),
      q_(device, std::move(weights.q)),
      k_(device, std::move(weights.k)),
      v_(device, std::move(weights.v)),
      o_(device, std::move(weights.o)),
      seam_(std::move(seam)),
      core_(std::move(core)) {}

template <class T>
Tensor Attention<T>::forward(const Tensor& in, Saved& saved) {
  const Sequences& sequences = *saved.sequences;
  const Tensor x = seam_->enter(in, saved.tokens(in), name_);
  const Tensor q = q_.forward(x, saved.pass);
  const Tensor k = k_.forward(x, saved.pass);
  const Tensor v = v_.forward(x, saved.pass);
  rotate<T>(q, options_.heads.dim, sequences.positions, options_.rope_base, Turn::forward);
  rotate<T>(k, options_.heads.dim, sequences.positions, options_.rope_base, Turn::forward);
  std::vector<Tensor> kept;
  const Tensor mixed = core_->forward(call(saved), q, k, v, kept);
  saved.tensors = {x, mixed};
  saved.tensors.insert(saved.tensors.end(), kept.begin(), kept.end());
  return seam_->leave(o_.forward(mixed, saved.pass), name_);
}

// Turns the saved tensors into {what entered, mixed, gradients of o's output, q, k and v}.
template <class T>
Tensor Attention<T>::backward_input(const Tensor& grad_out, Saved& saved) {
  const Sequences& sequences = *saved.sequences;
  const Tensor x = saved.tensors.at(0);
  const Tensor grad = seam_->leave_backward(grad_out, x.shape().front(), name_);
  const Tensor grad_mixed = o_.input_gradient(grad);
  const Tensor mixed = saved.tensors.at(1);
  const std::vector<Tensor> kept(saved.tensors.begin() + 2, saved.tensors.end());
  const auto core = core_->backward(call(saved), mixed, grad_mixed, kept);
  rotate<T>(core.q, options_.heads.dim, sequences.positions, options_.rope_base, Turn::back);
  rotate<T>(core.k, options_.heads.dim, sequences.positions, options_.rope_base, Turn::back);
  const Tensor grad_in = q_.input_gradient(core.q);
  k_.add_input_gradient(core.k, grad_in);
  v_.add_input_gradient(core.v, grad_in);
  saved.tensors = {x, mixed, grad, core.q, core.k, core.v};
  return seam_->enter_backward(grad_in, name_);
}

template <class T>
void Attention<T>::backward_weight(Saved& saved) {
  const auto& s = saved.tensors;
  o_.add_weight_gradient(s.at(1), s.at(2));
  q_.add_weight_gradient(s.at(0), s.at(3));
  k_.add_weight_gradient(s.at(0), s.at(4));
  v_.add_weight_gradient(s.at(0), s.at(5));
  saved.tensors.clear();
}

template <class T>
std::vector<Parameter*> Attention<T>::parameters() {
  return {&q_.weight(), &k_.weight(), &v_.weight(), &o_.weight()};
}

template class Attention<float>;
template class Attention<double>;

}  // namespace ringside
