// A step of a rank that updates pieces, set beside the step of a reference that has whole tensors.
#pragma once

#include <vector>

#include "models/training.hpp"
#include "parallel/shard_map.hpp"

namespace ringside {

// `record` with whole tensors in the reference's order in place of the pieces, whose values are the
// record's; what lies in no piece of this rank is the reference's own. `tensors`: how many each
// layer has; all of them learn.
StepRecord whole_tensors(const StepRecord& record, const std::vector<ShardPiece>& pieces,
                         const std::vector<std::size_t>& tensors, const StepRecord& reference);

// The pieces' elements of whole tensors, one after the other.
std::vector<double> elements_in(const std::vector<ShardPiece>& pieces,
                                const std::vector<std::size_t>& tensors,
                                const std::vector<std::vector<double>>& whole);

}  // namespace ringside
