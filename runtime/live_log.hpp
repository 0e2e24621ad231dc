// The live view of the traffic: a readable line on stderr for each message that a rank receives.
//
// A rank writes no line itself: a terminal that is stopped, or a pipe that nobody reads, would stop
// it, and others would take it for lost. The line goes to the launcher as a note of its own kind.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "runtime/traffic.hpp"

namespace ringside {

class LiveLog {
 public:
  explicit LiveLog(std::function<void(std::string_view)> send_note)
      : send_note_(std::move(send_note)) {}

  void message(const TrafficRecord& record) const;

 private:
  std::function<void(std::string_view)> send_note_;
};

// The line that a note brings, with its end; none when it is another note.
std::optional<std::string_view> live_line(std::string_view note);

}  // namespace ringside
