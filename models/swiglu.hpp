// y = (silu(x G) * (x U)) D, with silu(z) = z / (1 + e^-z) (Shazeer 2020, GLU variants). No bias.
//
// Of a model that is cut, a rank has columns of gate and up and rows of down.
#pragma once

#include <memory>

#include "models/projection.hpp"
#include "models/seam.hpp"

namespace ringside {

template <class T>
class SwiGlu : public Layer {
 public:
  struct Weights {
    Parameter gate;  // [hidden, ffn]
    Parameter up;    // [hidden, ffn]
    Parameter down;  // [ffn, hidden]
  };

  SwiGlu(Device device, std::string name, Weights weights, std::shared_ptr<Seam> seam);

  const std::string& name() const override { return name_; }

  // Saves what entered, and the outputs of gate and up.
  Tensor forward(const Tensor& in, Saved& saved) override;
  Tensor backward_input(const Tensor& grad_out, Saved& saved) override;
  void backward_weight(Saved& saved) override;

  std::vector<Parameter*> parameters() override {
    return {&gate_.weight(), &up_.weight(), &down_.weight()};
  }

 private:
  Tensor gated(const Tensor& gate, const Tensor& up) const;

  Device device_;
  std::string name_;
  Projection<T> gate_;
  Projection<T> up_;
  Projection<T> down_;
  std::shared_ptr<Seam> seam_;
};

}  // namespace ringside
