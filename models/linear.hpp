// y = f(x W + b) with f the identity or tanh.
#pragma once

#include <cstdint>

#include "models/layer.hpp"
#include "models/matrix.hpp"

namespace ringside {

enum class Activation : std::uint8_t { identity, tanh };

// The bits of a row may depend on how many rows are computed with it (Eigen's products take the
// last rows another way), but never on an address, nor on the run.
template <class T>
class Linear : public Layer {
 public:
  // Parameters "<name>.weight" [in, out] and "<name>.bias" [out], uniform within 1/sqrt(in).
  Linear(Device device, std::string name, std::size_t in, std::size_t out, Activation activation,
         std::uint64_t seed);

  const std::string& name() const override { return name_; }

  Tensor forward(const Tensor& in, Saved& saved) override;
  Tensor backward_input(const Tensor& grad_out, Saved& saved) override;
  void backward_weight(Saved& saved) override;

  std::vector<Parameter*> parameters() override { return {&weight_, &bias_}; }

 private:
  Tensor make(std::size_t rows, std::size_t cols, const char* what) const;
  void add_gradients(const Matrix<T>& in, const Matrix<T>& grad_sum);
  void charge_product(std::size_t rows, const char* what) const;

  Device device_;
  std::string name_;
  Activation activation_;
  Parameter weight_;  // [in, out]
  Parameter bias_;    // [out]
};

}  // namespace ringside
