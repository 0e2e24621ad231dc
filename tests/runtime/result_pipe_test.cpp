#include "runtime/result_pipe.hpp"

#include <gtest/gtest.h>

#include <array>

#include "runtime/errors.hpp"
#include "runtime/process.hpp"

namespace ringside {
namespace {

std::string through_a_pipe(FrameKind kind, std::string_view payload) {
  Pipe pipe = make_pipe();
  write_frame(pipe.write.get(), kind, payload);
  std::array<char, 4096> scratch{};
  std::string_view got;
  EXPECT_EQ(read_available(pipe.read, scratch, got), Reading::some);
  return std::string(got);
}

TEST(ResultPipe, FramesComeBackFromAnyCut) {
  const std::string bytes = through_a_pipe(FrameKind::note, "half way") +
                            through_a_pipe(FrameKind::report, "") +
                            through_a_pipe(FrameKind::value, std::string("a\0b", 3));
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    FrameReader reader;
    std::vector<Frame> frames = reader.feed(std::string_view(bytes).substr(0, cut));
    for (Frame& frame : reader.feed(std::string_view(bytes).substr(cut))) {
      frames.push_back(frame);
    }
    ASSERT_EQ(frames.size(), 3U) << "cut at " << cut;
    EXPECT_EQ(frames[0].kind, FrameKind::note);
    EXPECT_EQ(frames[0].payload, "half way");
    EXPECT_EQ(frames[1].kind, FrameKind::report);
    EXPECT_EQ(frames[1].payload, "");
    EXPECT_EQ(frames[2].payload, std::string("a\0b", 3));
  }
}

TEST(ResultPipe, AHalfFrameIsNoFrame) {
  const std::string bytes = through_a_pipe(FrameKind::value, "all of it");
  FrameReader reader;
  EXPECT_TRUE(reader.feed(std::string_view(bytes).substr(0, bytes.size() - 1)).empty());
}

TEST(ResultPipe, OtherBytesAreRefused) {
  FrameReader reader;
  EXPECT_THROW(reader.feed("hello, this is no frame"), PeerLost);
}

TEST(ResultPipe, ReadingNeverWaitsAndSeesTheEnd) {
  Pipe pipe = make_pipe();
  std::array<char, 16> scratch{};
  std::string_view got;
  EXPECT_EQ(read_available(pipe.read, scratch, got), Reading::nothing_there);
  pipe.write.close();
  EXPECT_EQ(read_available(pipe.read, scratch, got), Reading::closed);
}

}  // namespace
}  // namespace ringside
