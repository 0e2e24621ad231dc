#include "models/rms_norm.hpp"

#include <cmath>

namespace ringside {

// 1 / sqrt(mean(x^2) + eps)
template <class T>
double RmsNorm<T>::inverse_root(std::span<const T> row) const {
  double squares = 0;
  for (const T x : row) {
    squares += static_cast<double>(x) * static_cast<double>(x);
  }
  return 1 / std::sqrt(squares / static_cast<double>(row.size()) + eps_);
}

template <class T>
Tensor RmsNorm<T>::forward(const Tensor& in, Saved& saved) {
  saved.tensors = {in};
  Tensor out(device_.memory, dtype_of<T>(), in.shape(), Category::activations, name_ + ".out");
  if (out.meta()) {
    return out;
  }
  const auto gain = gain_.value.as<T>();
  const auto x = in.as<T>();
  const auto y = out.as<T>();
  const std::size_t width = gain.size();
  for (std::size_t first = 0; first < x.size(); first += width) {
    const auto scale = static_cast<T>(inverse_root(x.subspan(first, width)));
    for (std::size_t i = 0; i < width; ++i) {
      y[first + i] = x[first + i] * scale * gain[i];
    }
  }
  return out;
}

// dx = r gain dy - x r^3 mean(gain dy x), with r = 1 / sqrt(mean(x^2) + eps)
template <class T>
Tensor RmsNorm<T>::backward_input(const Tensor& grad_out, Saved& saved) {
  saved.tensors.push_back(grad_out);
  Tensor grad_in(device_.memory, dtype_of<T>(), grad_out.shape(), Category::activations,
                 name_ + ".grad_in");
  if (grad_in.meta()) {
    return grad_in;
  }
  const auto gain = gain_.value.as<T>();
  const auto x = saved.tensors.at(0).as<T>();
  const auto dy = grad_out.as<T>();
  const auto dx = grad_in.as<T>();
  const std::size_t width = gain.size();
  for (std::size_t first = 0; first < x.size(); first += width) {
    const double r = inverse_root(x.subspan(first, width));
    double along = 0;
    for (std::size_t i = first; i < first + width; ++i) {
      along += static_cast<double>(gain[i - first]) * static_cast<double>(dy[i]) *
               static_cast<double>(x[i]);
    }
    const double back = r * r * r * along / static_cast<double>(width);
    for (std::size_t i = first; i < first + width; ++i) {
      dx[i] = static_cast<T>(r * static_cast<double>(gain[i - first]) * static_cast<double>(dy[i]) -
                             back * static_cast<double>(x[i]));
    }
  }
  return grad_in;
}

template <class T>
void RmsNorm<T>::backward_weight(Saved& saved) {
  if (gain_.trainable && !gain_.grad.meta()) {
    add_gain_gradient(saved);
  }
  saved.tensors.clear();
}

template <class T>
void RmsNorm<T>::add_gain_gradient(const Saved& saved) {
  const auto x = saved.tensors.at(0).as<T>();
  const auto dy = saved.tensors.at(1).as<T>();
  const auto grad = gain_.grad.as<T>();
  const std::size_t width = grad.size();
  for (std::size_t first = 0; first < x.size(); first += width) {
    const auto scale = static_cast<T>(inverse_root(x.subspan(first, width)));
    for (std::size_t i = 0; i < width; ++i) {
      grad[i] += dy[first + i] * x[first + i] * scale;
    }
  }
}

template class RmsNorm<float>;
template class RmsNorm<double>;

}  // namespace ringside
