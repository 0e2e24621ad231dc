// Whether a barrier is one: nobody may leave before all have come.
#pragma once

#include <vector>

#include "runtime/message.hpp"

namespace ringside {

// By rank: those that it has not heard of when it leaves, directly or through others. A message
// tells all that its sender has heard by messages that departed, in modelled time, before it.
std::vector<std::vector<int>> unheard_ranks(int ranks, std::vector<Envelope> messages);

}  // namespace ringside
