#include "models/batch_norm.hpp"

#include <algorithm>
#include <cmath>

#include "models/initialise.hpp"
#include "models/tensor_elements.hpp"

namespace ringside {

namespace {

constexpr double eps = 1e-5;

template <class T>
Parameter filled(Device device, const std::string& name, std::size_t width, int value) {
  Parameter parameter = make_parameter<T>(device, name, {width}, 0, 0);
  map_elements(parameter.value, [value](auto element) { return decltype(element)(value); });
  return parameter;
}

}  // namespace

template <class T>
BatchNorm<T>::BatchNorm(Device device, std::string name, std::size_t width)
    : device_(device),
      name_(std::move(name)),
      gain_(filled<T>(device, name_ + ".weight", width, 1)),
      shift_(filled<T>(device, name_ + ".bias", width, 0)) {
  gain_.gain = true;
}

template <class T>
Tensor BatchNorm<T>::make(std::vector<std::size_t> shape, DType dtype, const char* what) const {
  return {device_.memory, dtype, std::move(shape), Category::activations, name_ + what};
}

template <class T>
void BatchNorm<T>::statistics_of(const Tensor& in, const Tensor& into) {
  const std::size_t width = gain_.value.count();
  const auto x = in.as<T>();
  std::vector<double> sums(2 * width + 1);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto value = static_cast<double>(x[i]);
    sums[i % width] += value;
    sums[width + i % width] += value * value;
  }
  sums.back() = static_cast<double>(x.size() / width);
  sums_->add_up(sums, name_);
  const double rows = sums.back();
  const auto statistics = into.as<double>();
  for (std::size_t c = 0; c < width && rows > 0; ++c) {
    const double mean = sums[c] / rows;
    const double variance = std::max(0.0, sums[width + c] / rows - mean * mean);
    statistics[c] = mean;
    statistics[width + c] = 1 / std::sqrt(variance + eps);
  }
  statistics.back() = rows;
}

template <class T>
Tensor BatchNorm<T>::forward(const Tensor& in, Saved& saved) {
  const std::size_t width = gain_.value.count();
  const Tensor statistics = make({2 * width + 1}, DType::f64, ".statistics");
  saved.tensors = {in, statistics};
  Tensor out = make(in.shape(), dtype_of<T>(), ".out");
  if (out.meta()) {
    return out;
  }
  statistics_of(in, statistics);
  const auto s = statistics.as<double>();
  const auto gain = gain_.value.as<T>();
  const auto shift = shift_.value.as<T>();
  const auto x = in.as<T>();
  const auto y = out.as<T>();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t c = i % width;
    const double normal = (static_cast<double>(x[i]) - s[c]) * s[width + c];
    y[i] = static_cast<T>(normal * static_cast<double>(gain[c]) + static_cast<double>(shift[c]));
  }
  return out;
}

template <class T>
void BatchNorm<T>::gradient_sums(const Saved& saved, const Tensor& grad_out,
                                 const Tensor& into) const {
  const std::size_t width = gain_.value.count();
  const auto x = saved.tensors.at(0).template as<T>();
  const auto s = saved.tensors.at(1).template as<double>();
  const auto dy = grad_out.as<T>();
  const auto sums = into.as<double>();
  std::ranges::fill(sums, 0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t c = i % width;
    const double normal = (static_cast<double>(x[i]) - s[c]) * s[width + c];
    sums[c] += static_cast<double>(dy[i]);
    sums[width + c] += static_cast<double>(dy[i]) * normal;
  }
}

// dx = gain r (dy - mean(dy) - n mean(dy n)), with n the normalised x and r = 1 / sqrt(var + eps);
// means over the rows of all ranks. The parameters' gradients are of this rank's rows.
template <class T>
Tensor BatchNorm<T>::backward_input(const Tensor& grad_out, Saved& saved) {
  const std::size_t width = gain_.value.count();
  Tensor grad_in = make(grad_out.shape(), dtype_of<T>(), ".grad_in");
  const Tensor own = make({2 * width}, DType::f64, ".grad_sums");
  if (!grad_in.meta()) {
    gradient_sums(saved, grad_out, own);
    const auto own_sums = own.as<double>();
    std::vector<double> sums(own_sums.begin(), own_sums.end());
    sums_->add_up(sums, name_);
    const auto s = saved.tensors.at(1).as<double>();
    const auto gain = gain_.value.as<T>();
    const auto x = saved.tensors.at(0).as<T>();
    const auto dy = grad_out.as<T>();
    const auto dx = grad_in.as<T>();
    const double rows = s.back();
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t c = i % width;
      const double normal = (static_cast<double>(x[i]) - s[c]) * s[width + c];
      dx[i] = static_cast<T>(
          static_cast<double>(gain[c]) * s[width + c] *
          (static_cast<double>(dy[i]) - sums[c] / rows - normal * sums[width + c] / rows));
    }
  }
  saved.tensors = {own};
  return grad_in;
}

template <class T>
void BatchNorm<T>::backward_weight(Saved& saved) {
  if (!gain_.grad.meta()) {
    const auto sums = saved.tensors.at(0).as<double>();
    const std::size_t width = gain_.value.count();
    for (std::size_t c = 0; c < width; ++c) {
      if (shift_.trainable) {
        shift_.grad.as<T>()[c] += static_cast<T>(sums[c]);
      }
      if (gain_.trainable) {
        gain_.grad.as<T>()[c] += static_cast<T>(sums[width + c]);
      }
    }
  }
  saved.tensors.clear();
}

template class BatchNorm<float>;
template class BatchNorm<double>;

}  // namespace ringside
