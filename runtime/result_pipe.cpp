#include "runtime/result_pipe.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/errors.hpp"
#include "runtime/process.hpp"

namespace ringside {

namespace {

constexpr std::size_t header_bytes = 1 + sizeof(std::uint64_t);
constexpr std::uint64_t largest_reserve = 1U << 30;  // a length may be nonsense

// Takes at most n bytes from the front.
std::string_view take(std::string_view& bytes, std::uint64_t n) {
  const auto taken = bytes.substr(0, std::min<std::uint64_t>(n, bytes.size()));
  bytes.remove_prefix(taken.size());
  return taken;
}

}  // namespace

void write_frame(int fd, FrameKind kind, std::string_view payload) {
  const std::uint64_t length = payload.size();
  std::string header(header_bytes, static_cast<char>(kind));
  std::memcpy(header.data() + 1, &length, sizeof(length));
  write_all(fd, header);
  write_all(fd, payload);
}

std::vector<Frame> FrameReader::feed(std::string_view bytes) {
  std::vector<Frame> whole;
  while (!bytes.empty() || (in_payload_ && missing_ == 0)) {
    if (!in_payload_) {
      header_ += take(bytes, header_bytes - header_.size());
      if (header_.size() == header_bytes) {
        begin_frame();
      }
      continue;
    }
    const auto part = take(bytes, missing_);
    frame_.payload += part;
    missing_ -= part.size();
    if (missing_ == 0) {
      whole.push_back(std::exchange(frame_, {}));
      in_payload_ = false;
    }
  }
  return whole;
}

void FrameReader::begin_frame() {
  frame_.kind = static_cast<FrameKind>(header_[0]);
  std::memcpy(&missing_, header_.data() + 1, sizeof(missing_));
  header_.clear();
  in_payload_ = true;
  frame_.payload.reserve(std::min(missing_, largest_reserve));
  switch (frame_.kind) {
    case FrameKind::note:
    case FrameKind::exception:
    case FrameKind::report:
    case FrameKind::value:
      return;
  }
  throw PeerLost("a rank sent nonsense to its launcher: there is no frame of kind " +
                 std::to_string(static_cast<int>(frame_.kind)));
}

}  // namespace ringside
