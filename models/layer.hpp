// A layer: forward, and a backward split in input gradient and weight gradient, because pipelines
// need both apart.
#pragma once

#include <string>
#include <vector>

#include "models/parameter.hpp"
#include "runtime/compute_clock.hpp"
#include "runtime/tensor.hpp"

namespace ringside {

// What a layer computes with.
struct Device {
  DeviceMemory& memory;
  ComputeClock& clock;
};

class Layer {
 public:
  virtual ~Layer() = default;

  // Saves what backward needs. [tokens, in] -> [tokens, out]; charges its operations.
  virtual Tensor forward(const Tensor& in) = 0;
  // [tokens, out] -> [tokens, in]; keeps what the weight gradient needs.
  virtual Tensor backward_input(const Tensor& grad_out) = 0;
  // Adds to the gradients, and lets go of what was saved.
  virtual void backward_weight() = 0;

  virtual std::vector<Parameter*> parameters() = 0;
};

}  // namespace ringside
