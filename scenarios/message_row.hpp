// The table of messages that `ringside log` prints: a heading, and a row for each message.
#pragma once

#include <string>

#include "runtime/logged_message.hpp"

namespace ringside {

// The names of the columns, with their units; no line's end.
std::string message_heading();

// Modelled start and arrival in microseconds to the picosecond, from and to, bytes, link, group,
// operation and number, phase, step, chunk, label.
std::string message_row(const LoggedMessage& message);

}  // namespace ringside
