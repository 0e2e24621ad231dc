#include "runtime/patient_output.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace ringside {

namespace {

constexpr std::size_t at_once = 512;  // POSIX's least PIPE_BUF: taken whole where there is room

}  // namespace

// A descriptor that is broken takes text too: the write says what is wrong.
bool takes_text(int fd) {
  pollfd out{.fd = fd, .events = POLLOUT, .revents = 0};
  return poll(&out, 1, 0) == 1;
}

void PatientOutput::write(std::string_view lines) {
  if (kept_.size() - begin_ + lines.size() > most_) {
    ++left_out_;
  } else {
    kept_.append(lines);
  }
  pump();
}

void PatientOutput::pump() {
  while (!is_empty() && takes_text(fd_)) {
    if (!write_part()) {
      return;
    }
  }
}

void PatientOutput::finish() {
  if (left_out_ > 0) {
    kept_ += std::to_string(left_out_) + " lines were left out: nobody read them in time\n";
    left_out_ = 0;
  }
  while (!is_empty() && write_part()) {
  }
}

// False when nothing could be written. What nobody can read any more is dropped.
bool PatientOutput::write_part() {
  const auto part = std::min(at_once, kept_.size() - begin_);
  const auto written = ::write(fd_, kept_.data() + begin_, part);
  if (written < 0 && errno != EINTR && errno != EAGAIN) {
    begin_ = kept_.size();
  } else if (written > 0) {
    begin_ += static_cast<std::size_t>(written);
  } else if (errno == EAGAIN) {  // somebody has made it non-blocking
    pollfd out{.fd = fd_, .events = POLLOUT, .revents = 0};
    poll(&out, 1, -1);
  }
  if (begin_ == kept_.size() || begin_ > most_ / 2) {
    kept_.erase(0, begin_);
    begin_ = 0;
  }
  return true;
}

}  // namespace ringside
