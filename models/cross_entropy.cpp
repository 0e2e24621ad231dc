#include "models/cross_entropy.hpp"

#include <cmath>

#include "models/matrix.hpp"

namespace ringside {

template <class T>
LossSum cross_entropy(Device device, const Tensor& logits, std::span<const std::uint8_t> targets) {
  LossSum sum{.grad = Tensor(device.memory, dtype_of<T>(), logits.shape(), Category::activations,
                             "logits.grad")};
  const auto x = matrix<T>(logits);
  auto grad = matrix<T>(sum.grad);
  for (Eigen::Index row = 0; row < x.rows(); ++row) {
    const T largest = x.row(row).maxCoeff();
    double total = 0;
    for (Eigen::Index c = 0; c < x.cols(); ++c) {
      grad(row, c) = std::exp(x(row, c) - largest);
      total += static_cast<double>(grad(row, c));
    }
    grad.row(row) /= static_cast<T>(total);
    const auto target = static_cast<Eigen::Index>(targets[static_cast<std::size_t>(row)]);
    sum.loss += std::log(total) - static_cast<double>(x(row, target) - largest);
    grad(row, target) -= T(1);
  }
  return sum;
}

template LossSum cross_entropy<float>(Device, const Tensor&, std::span<const std::uint8_t>);
template LossSum cross_entropy<double>(Device, const Tensor&, std::span<const std::uint8_t>);

}  // namespace ringside
