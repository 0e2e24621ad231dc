// y = x W, without a bias: the matrix product that blocks are made of.
#pragma once

#include "models/layer.hpp"

namespace ringside {

// Charges its products under its own name ("layers.3.attention.q forward").
template <class T>
class Projection {
 public:
  // `weight`: "<name>.weight" [in, out].
  Projection(Device device, Parameter weight);

  // [rows, in] -> [rows, out]
  Tensor forward(const Tensor& in, Pass pass) const;
  // [rows, out] -> [rows, in]
  Tensor input_gradient(const Tensor& grad_out) const;
  // The same, added to `grad_in`.
  void add_input_gradient(const Tensor& grad_out, const Tensor& grad_in) const;
  void add_weight_gradient(const Tensor& in, const Tensor& grad_out);

  Parameter& weight() { return weight_; }

 private:
  void charge(std::size_t rows, const char* what) const;

  Device device_;
  std::string name_;
  Parameter weight_;
};

}  // namespace ringside
