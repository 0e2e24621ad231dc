// Deliberate faults: the negative controls of the training checks. Each must be caught.
#pragma once

#include <cstdint>

namespace ringside {

enum class Fault : std::uint8_t {
  none,
  sum_not_mean,         // every rank divides by its own token count instead of the global one
  last_bucket_dropped,  // the last bucket is not reduced
  contribution_lost,    // rank 0's largest gradient element of the first bucket is not added
  weights_not_broadcast,
  leave_not_reduced,  // tensor parallelism: partial results are not summed
  replicated_gradient_not_summed,
  norm_counted_per_rank,  // what every rank holds is counted as often
  padding_counted,        // in the softmax
  weight_gradient_lost,   // the last stage leaves out that of its last micro-batch
  copies_not_summed,      // each device keeps its own gradient of what two hold
  blocking_sends,         // of a pipeline: every send waits until it is received
  // of context parallelism
  positions_reset,  // positions count from 0 on every rank
  kv_hop_skipped,   // once, keys and values are not passed on, and those from before stand for them
  kv_gradient_lost,  // the last rank's part of the gradient of another rank's keys and values is
                     // not added
  mean_of_means,     // every rank's loss is divided by its own tokens, and the ranks' by the ranks
  // of expert parallelism
  expert_gradient_divided,  // by ep, as a mean would be
  dispatch_offset_wrong,    // rows go to the next expert of the rank
  masked_groups_eligible,   // experts of groups that were not chosen can be chosen
  dropped_kept,             // tokens beyond the capacity are computed
  // of ZeRO
  gradient_scaled,         // every shard of the gradient is divided by the number of ranks
  shard_offset_wrong,      // a rank takes the next rank's chunk for its shard of the gradient
  norm_of_rank,            // every rank takes the norm of its own shard for the global one
  padding_in_norm,         // the norm takes in the padding, in which there are ones
  parameters_not_gathered  // the last bucket's parameters stay as they were, but for the own shard
};

}  // namespace ringside
