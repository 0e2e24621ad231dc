// Where buckets end on a device of a pipeline, whatever would still fit.
//
// A bucket holds tensors of one stage, for stages are done with backward at different times. And a
// tied table with a copy on another device is a bucket alone, for it is reduced over the copies
// too: so both devices cut it into the same shards, and the reduction over the replicas can come
// first (as in Megatron-LM's distributed optimizer).
#pragma once

#include <cstddef>
#include <vector>

#include "parallel/pipeline/schedule.hpp"
#include "parallel/pipeline/stage_split.hpp"

namespace ringside {

// Layers of the device's model (BucketRules::borders), ascending. `tied`: the head has the
// embedding's table.
std::vector<std::size_t> bucket_borders(const Schedule& schedule, const StageSplit& split,
                                        int device, bool tied);

}  // namespace ringside
