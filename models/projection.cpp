#include "models/projection.hpp"

#include "models/matrix.hpp"

namespace ringside {

template <class T>
Projection<T>::Projection(Device device, Parameter weight)
    : device_(device),
      name_(weight.name.substr(0, weight.name.rfind('.'))),
      weight_(std::move(weight)) {
  pin_matrix_products();
}

template <class T>
void Projection<T>::charge(std::size_t rows, const char* what) const {
  device_.clock.charge_flops(static_cast<std::int64_t>(2 * rows * weight_.value.count()),
                             name_ + what);
}

template <class T>
Tensor Projection<T>::forward(const Tensor& in, Pass pass) const {
  const std::size_t rows = in.shape().front();
  Tensor out(device_.memory, dtype_of<T>(), {rows, weight_.value.shape().back()},
             Category::activations, name_ + ".out");
  if (!out.meta()) {
    matrix<T>(out).noalias() = matrix<T>(in) * matrix<T>(weight_.value);
  }
  charge(rows, pass == Pass::forward ? " forward" : " recompute");
  return out;
}

template <class T>
Tensor Projection<T>::input_gradient(const Tensor& grad_out) const {
  const Tensor grad_in(device_.memory, dtype_of<T>(),
                       {grad_out.shape().front(), weight_.value.shape().front()},
                       Category::activations, name_ + ".grad_in");
  add_input_gradient(grad_out, grad_in);
  return grad_in;
}

template <class T>
void Projection<T>::add_input_gradient(const Tensor& grad_out, const Tensor& grad_in) const {
  if (!grad_in.meta()) {
    matrix<T>(grad_in).noalias() += matrix<T>(grad_out) * matrix<T>(weight_.value).transpose();
  }
  charge(grad_out.shape().front(), " input gradient");
}

template <class T>
void Projection<T>::add_weight_gradient(const Tensor& in, const Tensor& grad_out) {
  if (!weight_.trainable) {
    return;
  }
  if (!weight_.grad.meta()) {
    matrix<T>(weight_.grad).noalias() += matrix<T>(in).transpose() * matrix<T>(grad_out);
  }
  charge(in.shape().front(), " weight gradient");
}

template class Projection<float>;
template class Projection<double>;

}  // namespace ringside
