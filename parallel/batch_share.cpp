#include "parallel/batch_share.hpp"

#include "collectives/chunk.hpp"

namespace ringside {

SampleRange samples_of(std::uint64_t batch, const BatchShare& share, int index) {
  const Chunk mine = chunk_of(batch, share.ranks, share.rank);
  const Chunk part = chunk_of(mine.count, share.microbatches, index);
  return {mine.first + part.first, part.count};
}

Batch microbatch_of(const TrainingPlan& plan, const BatchShare& share, int step, int index) {
  const auto [first, count] = samples_of(plan.batch, share, index);
  return make_batch(plan.data, static_cast<std::uint64_t>(step), first, count);
}

void for_each_microbatch(const TrainingPlan& plan, const BatchShare& share,
                         const std::function<void(int index, const Batch& batch)>& see) {
  for (int step = plan.first_step(); step < plan.first_step() + plan.steps; ++step) {
    for (int index = 0; index < share.microbatches; ++index) {
      see(index, microbatch_of(plan, share, step, index));
    }
  }
}

}  // namespace ringside
