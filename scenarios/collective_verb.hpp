// `ringside collective OPERATION`: correctness and speed of one operation over sizes, algorithms
// and reductions.
#pragma once

#include "scenarios/collective_case.hpp"

namespace ringside {

// Prints on stdout; exit code 0, or 1 when an element is wrong or the bytes are not as claimed.
// Throws BadUse when the machine has not the memory, and what a failed rank stands for.
int collective_verb(const CollectiveRequest& request);

}  // namespace ringside
