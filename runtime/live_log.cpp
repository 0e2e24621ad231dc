#include "runtime/live_log.hpp"

#include <string>

#include "runtime/logged_message.hpp"

namespace ringside {

namespace {

constexpr char mark = '\x02';  // no other note begins with it

}  // namespace

void LiveLog::message(const TrafficRecord& record) const {
  send_note_(mark + describe(logged(record)) + '\n');
}

std::optional<std::string_view> live_line(std::string_view note) {
  return note.starts_with(mark) ? std::optional(note.substr(1)) : std::nullopt;
}

}  // namespace ringside
