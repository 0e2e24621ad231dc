// What waits for what when a schedule is executed.
#pragma once

#include <string>

#include "parallel/pipeline/schedule.hpp"

namespace ringside {

// Of a schedule whose actions are each there once: the actions of a cycle of waits, with the reason
// of each ("0B0 on device 0 waits for the gradient of 1B0 on device 1, which comes after …"); empty
// when there is none.
//
// Every action has two moments: it has begun, with its inputs received, and it has ended, with its
// results on their way. It begins after the action before it has ended and what it needs has ended.
// A gradient's send waits for the last one of the same stage to the same device to be received, so
// it ends after the action that takes that one has begun. A forward's send is waited for at the
// backward of the same micro-batch, which needs more than that anyway.
std::string cycle_in(const Schedule& schedule);

}  // namespace ringside
