// What a data-parallel step asks of those who reduce its gradients: DataParallel, Zero.
//
// A step is begin_step; for each micro-batch begin_microbatch, forward and backward under the hooks
// that it returns, end_microbatch; end_step.
#pragma once

#include <cstdint>
#include <string_view>

#include "models/layer_hooks.hpp"
#include "parallel/fault.hpp"

namespace ringside {

class GradientReduction {
 public:
  virtual ~GradientReduction() = default;

  // Gradients are zero.
  virtual void begin_step() = 0;

  virtual LayerHooks& begin_microbatch(int microbatch, int microbatches) = 0;

  // Waits for what this micro-batch has launched.
  virtual void end_microbatch() = 0;

  // The gradients that the rank is to have are the global sums.
  virtual void end_step() = 0;

  // A number summed over the ranks, 8 bytes, apart from the gradients ("tokens", "loss").
  virtual std::int64_t sum(std::int64_t value, std::string_view label) = 0;
  virtual double sum(double value, std::string_view label) = 0;

  virtual Fault fault() const = 0;
};

}  // namespace ringside
