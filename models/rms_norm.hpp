// y = x / sqrt(mean(x^2) + eps) * gain (Zhang and Sennrich 2019).
#pragma once

#include "models/layer.hpp"

namespace ringside {

// Row by row, and sums of a row in f64, so the bits of a row do not depend on the others.
template <class T>
class RmsNorm : public Layer {
 public:
  // `gain`: [width].
  RmsNorm(Device device, std::string name, Parameter gain, double eps)
      : device_(device), name_(std::move(name)), gain_(std::move(gain)), eps_(eps) {}

  const std::string& name() const override { return name_; }

  Tensor forward(const Tensor& in, Saved& saved) override;
  Tensor backward_input(const Tensor& grad_out, Saved& saved) override;
  void backward_weight(Saved& saved) override;

  std::vector<Parameter*> parameters() override { return {&gain_}; }

 private:
  double inverse_root(std::span<const T> row) const;
  void add_gain_gradient(const Saved& saved);

  Device device_;
  std::string name_;
  Parameter gain_;
  double eps_;
};

}  // namespace ringside
