// The chapter's own form of the acceptance test: one process that runs the shards of the batch in
// turn and combines their gradients. No communication; only the order of the additions is a
// collective's, so that data parallelism can be compared with it bit for bit.
#pragma once

#include <functional>
#include <vector>

#include "models/training.hpp"
#include "parallel/bracketing.hpp"
#include "parallel/buckets.hpp"

namespace ringside {

struct ShardsPlan {
  int shards = 8;
  int microbatches = 1;
  // Of a bucket with so many elements; none: the order of the shards.
  std::function<Bracketing(std::size_t elements)> order{};
  BucketRules buckets{};
};

std::vector<StepRecord> train_shards_in_turn(const TrainingPlan& plan, const ShardsPlan& shards);

}  // namespace ringside
