// Modelled clocks of a group, brought to one time.
#pragma once

#include "runtime/comm.hpp"

namespace ringside {

// After it every member's program stands at the same modelled time, so that the longest time of
// what follows is the time of the whole. Collective; written with single messages, so that no
// algorithm of the tables takes part.
void align_modelled_clocks(Comm& comm);

// What the claims of a row come to on one class of link: steps * latency + the bytes of the rank
// that sends most / bandwidth. Exact where every step keeps every sender equally busy (ring), below
// the truth where messages queue at one receiver.
Time claimed_time(int steps, std::int64_t most_bytes, const Link& link);

}  // namespace ringside
