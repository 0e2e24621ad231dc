// Modelled clocks of a group, brought to one time.
#pragma once

#include "runtime/comm.hpp"

namespace ringside {

// After it every member's program stands at the same modelled time, so that the longest time of
// what follows is the time of the whole. Collective; written with single messages, so that no
// algorithm of the tables takes part.
void align_modelled_clocks(Comm& comm);

}  // namespace ringside
