// Which samples of a step are whose: the one place that says so.
//
// A step is numbered in the training, from 0 at the seed: the first one of a resumed run is
// TrainingPlan::first_step().
#pragma once

#include <cstdint>
#include <functional>

#include "models/training.hpp"

namespace ringside {

struct SampleRange {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

// A data-parallel rank, and what it cuts its part of a batch into. Several ranks of a mesh, which
// share these samples, are one of them.
struct BatchShare {
  int rank = 0;
  int ranks = 1;
  int microbatches = 1;
};

// Of the `batch` samples of a step, those of micro-batch `index`: rank r takes chunk r, and cuts it
// again into micro-batches.
SampleRange samples_of(std::uint64_t batch, const BatchShare& share, int index);

// These samples in a step of the plan. A micro-batch without one is an ordinary case.
Batch microbatch_of(const TrainingPlan& plan, const BatchShare& share, int step, int index);

// Every micro-batch of the steps that a run of the plan takes, in order.
void for_each_microbatch(const TrainingPlan& plan, const BatchShare& share,
                         const std::function<void(int index, const Batch& batch)>& see);

}  // namespace ringside
