// Two micro-batches computed side by side: while the tokens of one travel to experts or back, the
// other is computed (DeepSeek-V3, section 3.2.1, in its plainest form).
#pragma once

#include <functional>

#include "models/model.hpp"
#include "models/training.hpp"
#include "parallel/data_parallel_step.hpp"

namespace ringside {

// Forward and backward of both; gradients are added for `a` first. Returns the sum of their losses.
// `hooks` are called once a layer, for both.
double forward_backward_together(Model& model, const Batch& a, const Batch& b, LayerHooks& hooks);

// A data-parallel step whose micro-batches are taken in pairs, in order; a last one alone.
class TwoAtOnce {
 public:
  TwoAtOnce(Comm& group, GradientReduction& dp, Model& model, Microbatches batches,
            int microbatches)
      : group_(group),
        dp_(dp),
        model_(model),
        batches_(std::move(batches)),
        microbatches_(microbatches) {}

  StepSum operator()(int step);

 private:
  Comm& group_;
  GradientReduction& dp_;
  Model& model_;
  Microbatches batches_;
  int microbatches_;
};

}  // namespace ringside
