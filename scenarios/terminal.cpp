#include "scenarios/terminal.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "runtime/files/quoted.hpp"
#include "runtime/patient_output.hpp"

namespace ringside {
namespace {

bool set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

bool capable(int stream) {
  return isatty(stream) == 1 && set("TERM") && std::string_view(std::getenv("TERM")) != "dumb";
}

}  // namespace

bool stderr_rewrites_lines() {
  return capable(STDERR_FILENO);
}

bool stderr_has_colour() {
  return stderr_rewrites_lines() && !set("NO_COLOR");
}

bool stdout_has_colour() {
  return capable(STDOUT_FILENO) && !set("NO_COLOR");
}

std::size_t stdout_columns() {
  winsize size{};
  const bool known = isatty(STDOUT_FILENO) == 1 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  return known ? size.ws_col : 0;
}

bool stdout_reader_has_left() {
  pollfd out{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
  return poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

std::string printable(std::string_view text) {
  return escaped(text);
}

void Progress::show(std::string_view line) {
  const auto now = std::chrono::steady_clock::now();
  if (!visible_ || now < next_ || (&out_ == &std::cerr && !takes_text(STDERR_FILENO))) {
    return;
  }
  next_ = now + std::chrono::milliseconds(100);
  out_ << '\r' << line << std::string(written_ - std::min(written_, line.size()), ' ')
       << std::flush;
  written_ = std::max(written_, line.size());
}

void Progress::wipe() {
  if (written_ > 0) {
    out_ << '\r' << std::string(written_, ' ') << '\r' << std::flush;
    written_ = 0;
  }
}

}  // namespace ringside
