// What a rank tells its launcher: frames of a kind, a length and a payload down a pipe. A rank can
// die at any byte, so the end may be half a frame.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringside {

enum class FrameKind : char { note = 'N', exception = 'X', report = 'R', value = 'V' };

struct Frame {
  FrameKind kind = FrameKind::note;
  std::string payload;
};

// Blocks until all is in the pipe; throws std::system_error when the launcher is gone.
void write_frame(int fd, FrameKind kind, std::string_view payload);

class FrameReader {
 public:
  // The frames that `bytes`, after what came before, bring to their end. Throws PeerLost when they
  // are no frames.
  std::vector<Frame> feed(std::string_view bytes);

 private:
  void begin_frame();

  std::string header_;
  Frame frame_;
  std::uint64_t missing_ = 0;
  bool in_payload_ = false;
};

}  // namespace ringside
