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
  padding_counted         // in the softmax
};

}  // namespace ringside
