// Properties of schedules that the chapter states as formulas: tried on timed schedules, for p up
// to 8 stages, m up to 32 micro-batches and several costs of F, I and W.
#pragma once

#include <string_view>

namespace ringside {

// Whether bubble over ideal time is (p-1)/m: of gpipe and 1f1b it is.
bool over_ideal_is_plain(std::string_view schedule);

// Idle time of a device, F, I and W taking 1 each.
double bubble_of(std::string_view schedule, int stages, int microbatches);

// Whether bubble over total time is (p-1)/(m+p-1).
bool over_total_is_plain(std::string_view schedule);

// Whether interleaved with v chunks has 1/v of the bubble of `plain`, its devices between the ends
// send v times as many messages, and all together (pv-1)/(p-1) times as many: so beside 1f1b.
bool interleaved_divides_by_v(std::string_view plain);

}  // namespace ringside
