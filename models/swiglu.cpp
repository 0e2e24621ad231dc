#include "models/swiglu.hpp"

#include "models/elementary.hpp"

namespace ringside {

namespace {

// 1 / (1 + e^-z)
template <class T>
T sigmoid(T z) {
  return static_cast<T>(1 / (1 + exponential(-static_cast<double>(z))));
}

// silu'(z) = s (1 + z (1 - s)) with s = sigmoid(z)
template <class T>
void gated_backward(const Tensor& gate, const Tensor& up, const Tensor& grad_gated,
                    const Tensor& grad_gate, const Tensor& grad_up) {
  const auto g = gate.as<T>();
  const auto u = up.as<T>();
  const auto dy = grad_gated.as<T>();
  const auto dg = grad_gate.as<T>();
  const auto du = grad_up.as<T>();
  for (std::size_t i = 0; i < dy.size(); ++i) {
    const T s = sigmoid(g[i]);
    dg[i] = dy[i] * u[i] * s * (T(1) + g[i] * (T(1) - s));
    du[i] = dy[i] * g[i] * s;
  }
}

}  // namespace

template <class T>
SwiGlu<T>::SwiGlu(Device device, std::string name, Weights weights, std::shared_ptr<Seam> seam)
    : device_(device),
      name_(std::move(name)),
      gate_(device, std::move(weights.gate)),
      up_(device, std::move(weights.up)),
      down_(device, std::move(weights.down)),
      seam_(std::move(seam)) {}

template <class T>
Tensor SwiGlu<T>::gated(const Tensor& gate, const Tensor& up) const {
  Tensor out(device_.memory, dtype_of<T>(), gate.shape(), Category::activations, name_ + ".gated");
  if (out.meta()) {
    return out;
  }
  const auto g = gate.as<T>();
  const auto u = up.as<T>();
  const auto y = out.as<T>();
  for (std::size_t i = 0; i < y.size(); ++i) {
    y[i] = g[i] * sigmoid(g[i]) * u[i];
  }
  return out;
}

template <class T>
Tensor SwiGlu<T>::forward(const Tensor& in, Saved& saved) {
  const Tensor x = seam_->enter(in, saved.tokens(in), name_);
  const Tensor gate = gate_.forward(x, saved.pass);
  const Tensor up = up_.forward(x, saved.pass);
  saved.tensors = {x, gate, up};
  return seam_->leave(down_.forward(gated(gate, up), saved.pass), name_);
}

// Turns the saved tensors into {what entered, gated, gradients of down's output, gate and up}.
template <class T>
Tensor SwiGlu<T>::backward_input(const Tensor& grad_out, Saved& saved) {
  const Tensor x = saved.tensors.at(0);
  const Tensor grad = seam_->leave_backward(grad_out, x.shape().front(), name_);
  const Tensor grad_gated = down_.input_gradient(grad);
  const Tensor gate = saved.tensors.at(1);
  const Tensor up = saved.tensors.at(2);
  const auto make = [&](const char* what) {
    return Tensor(device_.memory, dtype_of<T>(), gate.shape(), Category::activations, name_ + what);
  };
  const Tensor grad_gate = make(".grad_gate");
  const Tensor grad_up = make(".grad_up");
  if (!grad_gated.meta()) {
    gated_backward<T>(gate, up, grad_gated, grad_gate, grad_up);
  }
  const Tensor grad_in = gate_.input_gradient(grad_gate);
  up_.add_input_gradient(grad_up, grad_in);
  saved.tensors = {x, gated(gate, up), grad, grad_gate, grad_up};
  return seam_->enter_backward(grad_in, name_);
}

template <class T>
void SwiGlu<T>::backward_weight(Saved& saved) {
  const auto& s = saved.tensors;
  down_.add_weight_gradient(s.at(1), s.at(2));
  gate_.add_weight_gradient(s.at(0), s.at(3));
  up_.add_weight_gradient(s.at(0), s.at(4));
  saved.tensors.clear();
}

template class SwiGlu<float>;
template class SwiGlu<double>;

}  // namespace ringside
