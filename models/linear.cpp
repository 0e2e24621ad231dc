#include "models/linear.hpp"

#include <cmath>

#include "models/elementary.hpp"
#include "models/initialise.hpp"

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
                              1.0 / std::sqrt(static_cast<double>(in)), seed)) {
  pin_matrix_products();
}

template <class T>
Tensor Linear<T>::make(std::size_t rows, std::size_t cols, const char* what) const {
  return {device_.memory, dtype_of<T>(), {rows, cols}, Category::activations, name_ + what};
}

template <class T>
void Linear<T>::charge_product(std::size_t rows, const char* what) const {
  device_.clock.charge_flops(static_cast<std::int64_t>(2 * rows * weight_.value.count()),
                             name_ + what);
}

template <class T>
Tensor Linear<T>::forward(const Tensor& in, Saved& saved) {
  const std::size_t rows = in.shape().front();
  Tensor out = make(rows, bias_.value.count(), ".out");
  charge_product(rows, " forward");
  saved.tensors = {in};
  if (activation_ == Activation::tanh) {
    saved.tensors.push_back(out);
  }
  if (out.meta()) {
    return out;
  }
  auto y = matrix<T>(out);
  y.noalias() = matrix<T>(in) * matrix<T>(weight_.value);
  y.rowwise() += matrix<T>(bias_.value).row(0);
  if (activation_ == Activation::tanh) {
    for (T& x : out.as<T>()) {
      x = static_cast<T>(hyperbolic_tangent(static_cast<double>(x)));
    }
  }
  return out;
}

// Turns the saved tensors from {in, out} into {in, gradient before the activation}.
template <class T>
Tensor Linear<T>::backward_input(const Tensor& grad_out, Saved& saved) {
  const std::size_t rows = grad_out.shape().front();
  Tensor grad_sum = grad_out;
  if (activation_ == Activation::tanh) {
    grad_sum = make(rows, bias_.value.count(), ".grad_sum");
    if (!grad_sum.meta()) {
      const auto y = matrix<T>(saved.tensors.at(1)).array();
      matrix<T>(grad_sum).array() = matrix<T>(grad_out).array() * (T(1) - y * y);
    }
  }
  saved.tensors.resize(1);
  saved.tensors.push_back(grad_sum);
  Tensor grad_in = make(rows, weight_.value.shape().front(), ".grad_in");
  if (!grad_in.meta()) {
    matrix<T>(grad_in).noalias() = matrix<T>(grad_sum) * matrix<T>(weight_.value).transpose();
  }
  charge_product(rows, " input gradient");
  return grad_in;
}

template <class T>
void Linear<T>::backward_weight(Saved& saved) {
  if (weight_.trainable) {
    charge_product(saved.tensors.at(0).shape().front(), " weight gradient");
  }
  if (!saved.tensors.at(0).meta()) {
    add_gradients(matrix<T>(saved.tensors.at(0)), matrix<T>(saved.tensors.at(1)));
  }
  saved.tensors.clear();
}

template <class T>
void Linear<T>::add_gradients(const Matrix<T>& in, const Matrix<T>& grad_sum) {
  if (weight_.trainable) {
    matrix<T>(weight_.grad).noalias() += in.transpose() * grad_sum;
  }
  // Row by row: Eigen's column sums add in an order that depends on the address of their result,
  // which is another one in a bucket.
  if (bias_.trainable) {
    auto bias_grad = matrix<T>(bias_.grad);
    for (Eigen::Index row = 0; row < grad_sum.rows(); ++row) {
      bias_grad += grad_sum.row(row);
    }
  }
}

template class Linear<float>;
template class Linear<double>;

}  // namespace ringside
