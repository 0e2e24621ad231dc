// Two reductions of a step's gradients, taken as one: dense parameters are summed over all ranks
// that have tokens, experts over those that hold the same.
#pragma once

#include <vector>

#include "models/parameter.hpp"
#include "parallel/gradient_reduction.hpp"

namespace ringside {

class DenseAndExperts : public GradientReduction, private LayerHooks {
 public:
  // Both outlive it. What completes the gradients of a layer (DataParallelOptions::complete) is to
  // be given to `dense`, whose turn comes first.
  DenseAndExperts(GradientReduction& dense, GradientReduction& experts)
      : dense_(dense), experts_(experts) {}

  void begin_step() override;
  LayerHooks& begin_microbatch(int microbatch, int microbatches) override;
  void end_microbatch() override;
  void end_step() override;

  std::int64_t sum(std::int64_t value, std::string_view label) override {
    return dense_.sum(value, label);
  }

  double sum(double value, std::string_view label) override { return dense_.sum(value, label); }

  Fault fault() const override { return dense_.fault(); }

 private:
  void before_forward(std::size_t layer) override;
  void after_forward(std::size_t layer) override;
  void before_backward(std::size_t layer) override;
  void before_weight_gradient(std::size_t layer) override;
  void after_backward(std::size_t layer) override;

  GradientReduction& dense_;
  GradientReduction& experts_;
  LayerHooks* dense_hooks_ = nullptr;
  LayerHooks* expert_hooks_ = nullptr;
};

}  // namespace ringside
