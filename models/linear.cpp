#include "models/linear.hpp"

#include <cmath>

#include "models/initialise.hpp"
#include "models/matrix.hpp"

namespace ringside {

template <class T>
Linear<T>::Linear(Device device, std::string name, std::size_t in, std::size_t out,
                  Activation activation, std::uint64_t seed)
    : device_(device),
      name_(std::move(name)),
      activation_(activation),
      weight_(make_parameter<T>(device, name_ + ".weight", {in, out},
                                1.0 / std::sqrt(static_cast<double>(in)), seed)),
      bias_(make_parameter<T>(device, name_ + ".bias", {out},
                              1.0 / std::sqrt(static_cast<double>(in)), seed)) {}

template <class T>
std::int64_t Linear<T>::product_flops(const Tensor& rows) const {
  return 2 * static_cast<std::int64_t>(rows.shape().front()) *
         static_cast<std::int64_t>(weight_.value.count());
}

template <class T>
Tensor Linear<T>::forward(const Tensor& in) {
  in_ = in;
  out_ = Tensor(device_.memory, dtype_of<T>(), {in.shape().front(), bias_.value.count()},
                Category::activations, name_ + ".out");
  auto out = matrix<T>(out_);
  out.noalias() = matrix<T>(in) * matrix<T>(weight_.value);
  out.rowwise() += matrix<T>(bias_.value).row(0);
  if (activation_ == Activation::tanh) {
    for (T& x : out_.as<T>()) {
      x = std::tanh(x);
    }
  }
  device_.clock.charge_flops(product_flops(in), name_ + " forward");
  return out_;
}

template <class T>
Tensor Linear<T>::backward_input(const Tensor& grad_out) {
  grad_sum_ = grad_out;
  if (activation_ == Activation::tanh) {
    grad_sum_ = Tensor(device_.memory, dtype_of<T>(), grad_out.shape(), Category::activations,
                       name_ + ".grad_sum");
    const auto y = matrix<T>(out_).array();
    matrix<T>(grad_sum_).array() = matrix<T>(grad_out).array() * (T(1) - y * y);
  }
  Tensor grad_in(device_.memory, dtype_of<T>(), in_.shape(), Category::activations,
                 name_ + ".grad_in");
  matrix<T>(grad_in).noalias() = matrix<T>(grad_sum_) * matrix<T>(weight_.value).transpose();
  device_.clock.charge_flops(product_flops(in_), name_ + " input gradient");
  return grad_in;
}

template <class T>
void Linear<T>::backward_weight() {
  matrix<T>(weight_.grad).noalias() += matrix<T>(in_).transpose() * matrix<T>(grad_sum_);
  matrix<T>(bias_.grad) += matrix<T>(grad_sum_).colwise().sum();
  device_.clock.charge_flops(product_flops(in_), name_ + " weight gradient");
  in_ = out_ = grad_sum_ = Tensor();
}

template class Linear<float>;
template class Linear<double>;

}  // namespace ringside
