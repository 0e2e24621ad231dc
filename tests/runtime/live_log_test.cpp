// The live view: a readable line per message, whole however many ranks write at once.
#include "runtime/live_log.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sstream>

#include "runtime/logged_message.hpp"
#include "tests/runtime/ring_traffic.hpp"

namespace ringside {
namespace {

TrafficRecord example() {
  auto record = message_record(3, 12, Time(12'500'000), 781'250);
  record.envelope.signature.sequence = 7;
  record.envelope.signature.label = "grad.bucket.2"sv;
  record.envelope.phase = "reduce_scatter"sv;
  record.envelope.step = 4;
  record.envelope.chunk = 5;
  return record;
}

TEST(LiveLog, WritesOneReadableLine) {
  testing::internal::CaptureStderr();
  LiveLog().message(example());
  const auto text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(text, describe(logged(example())) + "\n");
  for (const auto* part : {"12.500000 -> ", " 13.282250 us", "3 -> 12 ", "nvlink", "dp all_reduce",
                           "(ring) #7", "reduce_scatter  step 4 ", "  chunk 5 ", "grad.bucket.2"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  }
}

TEST(LiveLog, N2OneLineWhateverTheLabelHolds) {
  auto record = example();
  record.envelope.signature.label = "two\nlines \x1b[31m\xff"sv;
  const auto line = describe(logged(record));
  EXPECT_TRUE(line.ends_with("two\\nlines \\u001b[31m\uFFFD")) << line;
}

TEST(LiveLog, LinesOfSeveralProcessesDoNotMix) {
  constexpr int ranks = 4;
  constexpr int messages = 300;
  testing::internal::CaptureStderr();
  for (int rank = 0; rank < ranks; ++rank) {
    if (fork() == 0) {
      LiveLog log;
      for (int i = 0; i < messages; ++i) {
        log.message(message_record(rank, 0, Time(i), 8));
      }
      _exit(0);
    }
  }
  for (int rank = 0; rank < ranks; ++rank) {
    wait(nullptr);
  }
  std::istringstream text(testing::internal::GetCapturedStderr());
  std::vector<int> next(ranks);
  int lines = 0;
  for (std::string line; std::getline(text, line); ++lines) {
    bool whole = false;
    for (int rank = 0; rank < ranks; ++rank) {
      auto& i = next[static_cast<std::size_t>(rank)];
      if (line == describe(logged(message_record(rank, 0, Time(i), 8)))) {
        ++i;
        whole = true;
        break;
      }
    }
    ASSERT_TRUE(whole) << line;
  }
  EXPECT_EQ(lines, ranks * messages);
}

}  // namespace
}  // namespace ringside
