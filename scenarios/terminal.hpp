// What stderr can show: progress is one line that is rewritten on a terminal, and nothing
// elsewhere.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

namespace ringside {

// Whether stderr is a terminal whose lines can be rewritten (TERM is neither unset nor dumb).
bool stderr_rewrites_lines();
// The same, and NO_COLOR is not set.
bool stderr_has_colour();

// Whether stdout is a terminal that shows colours, and NO_COLOR is not set.
bool stdout_has_colour();

// The columns of the terminal on stdout; 0 when it is none, or does not say.
std::size_t stdout_columns();

// Whether stdout is a pipe that nobody reads any more: `| head` has seen enough, which is no error.
bool stdout_reader_has_left();

// `text` with control characters, marks of direction and bytes that are no UTF-8 as \xNN or \uNNNN,
// so that a name out of a file cannot move the cursor.
std::string printable(std::string_view text);

// What is going on, in one line: rewritten in place at most ten times a second, wiped in the end.
// A terminal that is stopped gets no line: nobody waits for it.
class Progress {
 public:
  // `visible`: usually stderr_rewrites_lines().
  Progress(std::ostream& out, bool visible) : out_(out), visible_(visible) {}

  ~Progress() { wipe(); }

  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(std::string_view line);
  void wipe();

 private:
  std::ostream& out_;
  bool visible_;
  std::size_t written_ = 0;  // columns to wipe
  std::chrono::steady_clock::time_point next_{};
};

}  // namespace ringside
