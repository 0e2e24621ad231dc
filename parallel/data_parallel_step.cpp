#include "parallel/data_parallel_step.hpp"

#include "collectives/chunk.hpp"

namespace ringside {

// Rank r takes chunk r of the step's samples, and cuts it again into micro-batches.
Batch DataParallelStep::microbatch(int step, int index) const {
  const Chunk mine = chunk_of(plan_.batch, group_.size(), group_.rank());
  const Chunk part = chunk_of(mine.count, microbatches_, index);
  return make_batch(plan_.data, static_cast<std::uint64_t>(step), mine.first + part.first,
                    part.count);
}

StepSum DataParallelStep::operator()(int step) {
  Rank& rank = group_.owner();
  times_.start = rank.now();
  dp_.begin_step();
  StepSum sum;
  for (int m = 0; m < microbatches_; ++m) {
    const Batch batch = microbatch(step, m);
    const bool reduce = dp_.reduces(m, microbatches_);
    sum.tokens += batch.tokens();
    sum.loss += model_.forward_backward(batch, [&](std::size_t layer) {
      if (reduce) {
        dp_.layer_done(layer);
      }
    });
    times_.backward_end = rank.now();
    if (reduce) {
      dp_.finish();
    }
  }
  dp_.end_step();
  times_.gradients_ready = rank.now();
  sum.loss = dp_.sum(sum.loss, "loss");
  const std::int64_t tokens = dp_.sum(sum.tokens, "tokens");
  if (dp_.fault() != Fault::sum_not_mean) {
    sum.tokens = tokens;
  }
  return sum;
}

}  // namespace ringside
