// One step of data-parallel training, as the gradient of the training loop (models/training.hpp).
#pragma once

#include <functional>

#include "models/training.hpp"
#include "parallel/gradient_reduction.hpp"
#include "runtime/comm.hpp"

namespace ringside {

struct StepTimes {
  Time start{0};
  Time forward_end{0};  // this and the next: of the last micro-batch
  Time backward_end{0};
  Time gradients_ready{0};  // all reduced: what lies between is exposed communication
};

// Micro-batch `index` of a step, of this rank. One without a token is an ordinary case.
using Microbatches = std::function<Batch(int step, int index)>;

class DataParallelStep {
 public:
  // `two_at_once`: micro-batches are taken in pairs, in order, and a last one alone
  // (expert/two_at_once.hpp).
  DataParallelStep(Comm& group, GradientReduction& dp, Model& model, Microbatches batches,
                   int microbatches, bool two_at_once = false)
      : group_(group),
        dp_(dp),
        model_(model),
        batches_(std::move(batches)),
        microbatches_(microbatches),
        at_once_(two_at_once ? 2 : 1) {}

  // Each rank of the group has a share of the batch (batch_share.hpp). The plan outlives the step.
  DataParallelStep(Comm& group, GradientReduction& dp, Model& model, const TrainingPlan& plan,
                   int microbatches);

  // `hooks`, which outlive the step, are called too, before those of the reduction.
  void watch(LayerHooks& hooks) { watch_ = &hooks; }

  // Leaves the gradient of the global token sum where `dp` puts it. Loss and tokens are global too.
  StepSum operator()(int step);

  const StepTimes& times() const { return times_; }

 private:
  double loss_weight(int step);
  double forward_backward(const std::vector<Batch>& batches, LayerHooks& hooks);

  Comm& group_;
  GradientReduction& dp_;
  Model& model_;
  Microbatches batches_;
  int microbatches_;
  int at_once_;
  StepTimes times_;
  LayerHooks none_;
  LayerHooks* watch_ = &none_;
};

}  // namespace ringside
