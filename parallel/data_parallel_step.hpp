// One step of data-parallel training, as the gradient of the training loop (models/training.hpp).
#pragma once

#include <vector>

#include "models/training.hpp"
#include "parallel/data_parallel.hpp"

namespace ringside {

struct StepTimes {
  Time start{0};
  Time backward_end{0};     // of the last micro-batch
  Time gradients_ready{0};  // all reduced: what lies between is exposed communication
};

class DataParallelStep {
 public:
  DataParallelStep(Comm& group, DataParallel& dp, Mlp& model, const TrainingPlan& plan,
                   int microbatches)
      : group_(group), dp_(dp), model_(model), plan_(plan), microbatches_(microbatches) {}

  // Leaves the gradient of the global token sum in the parameters. Loss and tokens are global too.
  StepSum operator()(int step);

  const StepTimes& times() const { return times_; }

 private:
  Batch microbatch(int step, int index) const;

  Comm& group_;
  DataParallel& dp_;
  Mlp& model_;
  const TrainingPlan& plan_;
  int microbatches_;
  StepTimes times_;
};

}  // namespace ringside
