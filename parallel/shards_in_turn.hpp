// The chapter's own form of the acceptance test: one process that runs the shards of the batch in
// turn and combines their gradients. No communication; only the order of the additions is a
// collective's, so that data parallelism can be compared with it bit for bit.
#pragma once

#include <vector>

#include "models/training.hpp"

namespace ringside {

enum class AdditionOrder : std::uint8_t {
  ranks,  // 0, 1, …: the naive all-reduce
  ring    // chunk c of each bucket starts at shard c+1 and ends with shard c
};

struct ShardsPlan {
  int shards = 8;
  int microbatches = 1;
  AdditionOrder order = AdditionOrder::ranks;
  Bytes bucket{25 << 20};  // the layout matters to the ring's order only
};

std::vector<StepRecord> train_shards_in_turn(const TrainingPlan& plan, const ShardsPlan& shards);

}  // namespace ringside
