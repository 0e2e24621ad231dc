// y = f(x W + b) with f the identity or tanh.
#pragma once

#include <cstdint>

#include "models/layer.hpp"

namespace ringside {

enum class Activation : std::uint8_t { identity, tanh };

template <class T>
class Linear : public Layer {
 public:
  // Initialised from (seed, parameter name), uniform within 1/sqrt(in).
  Linear(Device device, std::string name, std::size_t in, std::size_t out, Activation activation,
         std::uint64_t seed);

  Tensor forward(const Tensor& in) override;
  Tensor backward_input(const Tensor& grad_out) override;
  void backward_weight() override;

  std::vector<Parameter*> parameters() override { return {&weight_, &bias_}; }

 private:
  std::int64_t product_flops(const Tensor& rows) const;

  Device device_;
  std::string name_;
  Activation activation_;
  Parameter weight_;  // [in, out]
  Parameter bias_;    // [out]
  Tensor in_;         // [tokens, in]
  Tensor out_;        // [tokens, out], after the activation
  Tensor grad_sum_;   // [tokens, out], before the activation
};

}  // namespace ringside
