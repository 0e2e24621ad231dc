// The state of a training whose tensors are cut over ranks: gathered whole, and compared.
#pragma once

#include <string>
#include <vector>

#include "models/state_part.hpp"
#include "parallel/deviation.hpp"
#include "runtime/comm.hpp"

namespace ringside {

// Whole tensors on rank 0 of the group, nothing on the others: each sends what it has, a message a
// part. Throws BadUse, with the tensor and the numbers, where copies have different bits, where two
// ranks see another whole, and where an element is on no rank.
NamedTensors gather_state(Comm& group, const std::vector<StatePart>& parts);

struct StateDifference {
  std::vector<std::string> only_in_first{};
  std::vector<std::string> only_in_second{};
  std::vector<std::string> of_other_shape{};  // or type
  std::vector<std::string> of_other_bits{};
  std::vector<std::string> not_finite{};  // in either, though both may have the same bits
  Deviation
      deviation{};  // of the floating-point tensors that both have, in the first's widest type

  // Not a bit, and nothing that is infinite or no number.
  bool none() const {
    return only_in_first.empty() && only_in_second.empty() && of_other_shape.empty() &&
           of_other_bits.empty() && not_finite.empty();
  }
};

StateDifference difference(const NamedTensors& first, const NamedTensors& second);

}  // namespace ringside
