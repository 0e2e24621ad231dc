// The live view: a readable line per message, whole however many ranks write at once.
#include "runtime/live_log.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <sstream>
#include <thread>

#include "runtime/comm.hpp"
#include "runtime/launch.hpp"
#include "runtime/logged_message.hpp"
#include "tests/runtime/ring_traffic.hpp"
#include "tests/support/child.hpp"

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

TEST(LiveLog, SendsOneReadableLine) {
  std::string text;
  const LiveLog log([&](std::string_view note) { text = live_line(note).value(); });
  log.message(example());
  EXPECT_EQ(text, describe(logged(example())) + "\n");
  for (const auto* part : {"12.500000 -> ", " 13.282250 us", "3 -> 12 ", "nvlink", "dp all_reduce",
                           "(ring) #7", "reduce_scatter  step 4 ", "  chunk 5 ", "grad.bucket.2"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  }
}

TEST(LiveLog, OtherNotesAreNoLines) {
  EXPECT_FALSE(live_line("step 1 of 3"));
  EXPECT_FALSE(live_line(""));
}

TEST(LiveLog, N2OneLineWhateverTheLabelHolds) {
  auto record = example();
  record.envelope.signature.label = "two\nlines \x1b[31m\xff"sv;
  const auto line = describe(logged(record));
  EXPECT_TRUE(line.ends_with("two\\nlines \\u001b[31m\uFFFD")) << line;
}

constexpr int ranks = 4;
constexpr int messages = 300;

// Each rank sends to the next one.
void chatter(Rank& rank) {
  for (int i = 0; i < messages; ++i) {
    std::int64_t sent = i;
    std::int64_t received = 0;
    rank.world().send_recv((rank.id() + 1) % ranks, buffer_of(std::span(&sent, 1)),
                           (rank.id() + ranks - 1) % ranks, buffer_of(std::span(&received, 1)));
  }
}

TEST(LiveLog, LinesOfSeveralRanksDoNotMix) {
  testing::internal::CaptureStderr();
  JobOptions options;
  options.live = true;
  run_ranks(ranks, options, chatter);
  std::istringstream text(testing::internal::GetCapturedStderr());
  int lines = 0;
  for (std::string line; std::getline(text, line); ++lines) {
    EXPECT_NE(line.find(" -> "), std::string::npos) << line;
    EXPECT_TRUE(line.ends_with("8 B") || line.find(" 8 B ") != std::string::npos) << line;
  }
  EXPECT_EQ(lines, ranks * messages);
}

// The job goes on while nobody reads; what it says is there in the end.
TEST(LiveLog, NobodyWhoReadsIsNoSilence) {
  const std::string text = in_child([] {
    Pipe pipe = make_pipe();
    dup2(pipe.write.get(), STDERR_FILENO);
    pipe.write.close();
    const ChildProcess slow([&] {  // reads after twice the limit of a wait
      close(STDERR_FILENO);
      std::this_thread::sleep_for(std::chrono::milliseconds(1500));
      std::array<char, 65536> scratch{};
      std::string_view got;
      for (Reading r = Reading::some; r != Reading::closed;) {
        wait_readable(std::array{pipe.read.get()}, std::chrono::milliseconds(100));
        r = read_available(pipe.read, scratch, got);
      }
    });
    JobOptions options;
    options.live = true;
    options.limit = std::chrono::milliseconds(300);
    const auto result = run_job(ranks, options, [](Rank& rank) {
      for (int i = 0; i < 5; ++i) {
        chatter(rank);
      }
      return std::string();
    });
    return result.ok() ? std::string("ok") : result.describe();
  });
  EXPECT_EQ(text, "ok");
}

}  // namespace
}  // namespace ringside
