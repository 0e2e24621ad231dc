// A line of traffic.jsonl, written and read.
#pragma once

#include <string>
#include <string_view>

#include "runtime/logged_message.hpp"

namespace ringside {

// One JSON object without a line's end. The keys are the members' names, in their order, but for
// start_ps and end_ps, which are whole picoseconds.
std::string traffic_line(const LoggedMessage& message);

// Throws BadUse, saying what is wrong: no JSON object, a key missing or of another type, a number
// out of its range, an unknown link. Other keys are passed over.
LoggedMessage parse_traffic_line(std::string_view line);

// Throws BadUse with the accepted names.
LinkClass parse_link(std::string_view name);

}  // namespace ringside
