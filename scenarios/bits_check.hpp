// A comparison of bits as a row of the verdict table: where the first other bits are.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "scenarios/check.hpp"
#include "scenarios/training_job.hpp"

namespace ringside {

struct OtherBits {
  std::size_t rank = 0;
  std::size_t step = 0;   // from 0
  bool gradients = true;  // or only parameters
};

// The first step, and in it the first rank, in which the gradients or the parameters of a rank's
// step are not what they should be; none where all are.
using SameBits = std::function<bool(std::size_t rank, std::size_t step)>;
std::optional<OtherBits> first_other_bits(const TrainingOutcome& outcome,
                                          const SameBits& same_gradients,
                                          const SameBits& same_parameters);

// "equal", "rank 2 differs at step 1", or "not finite on rank 2 at step 1": a NaN may have the bits
// of a NaN, and is equal to nothing. The element is that of the rank which is furthest from one
// process.
Check bits_check(std::string name, const std::optional<OtherBits>& found,
                 const TrainingOutcome& outcome, std::string gate, std::string note = {});

}  // namespace ringside
