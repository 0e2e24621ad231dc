// Messages that nobody received, slices that lie outside: mistakes that used to pass unseen.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "runtime/buffer.hpp"
#include "runtime/comm.hpp"
#include "runtime/errors.hpp"
#include "runtime/launch.hpp"
#include "runtime/tensor.hpp"
#include "tests/support/job_shapes.hpp"

namespace ringside {
namespace {

class Undelivered : public ShapedTest {};

// What a job of 3 ranks says in which rank 0 sends `sent` messages to rank 1, and `received` of
// them are received. "" when it went well.
std::string said(const JobOptions& options, int sent, int received) {
  const JobResult result = run_job(3, options, [=](Rank& rank) {
    const Tensor data(rank.memory(), DType::f32, {5}, Category::buffers, "data");
    std::vector<Request> sends;
    for (int i = 0; i < sent && rank.id() == 0; ++i) {
      sends.push_back(rank.world().isend(1, data.buffer()));
    }
    for (int i = 0; i < received && rank.id() == 1; ++i) {
      rank.world().recv(0, data.buffer());
    }
    return std::string();
  });
  return result.ok() ? "" : result.describe();
}

TEST_P(Undelivered, MessagesAreAMismatchThatNamesTheirKindAndSender) {
  JobOptions options = GetParam().options();
  options.eager_limit = 1024;
  EXPECT_EQ(said(options, 3, 3), "");
  const std::string text = said(options, 3, 1);
  EXPECT_EQ(text.find("mismatch: 2 messages of send on group world were sent and never received; "
                      "of that kind rank 0 sent"),
            0U)
      << text;
}

INSTANTIATE_TEST_SUITE_P(Shapes, Undelivered, testing::ValuesIn(job_shapes()), shape_name);

TEST(Undelivered, IsAMismatchForWhoeverRunsTheRanks) {
  const JobOptions options{.as = Ranks::threads};
  EXPECT_THROW(run_ranks(2, options,
                         [](Rank& rank) {
                           const Tensor data(rank.memory(), DType::u8, {1}, Category::buffers, "d");
                           if (rank.id() == 0) {
                             rank.world().send(1, data.buffer());
                           }
                         }),
               Desync);
}

TEST(Slice, OutsideItsBufferIsRefused) {
  std::array<float, 4> elements{};
  const Buffer buffer = buffer_of(std::span<float>(elements));
  EXPECT_EQ(buffer.slice(1, 3).count, 3U);
  EXPECT_EQ(buffer.slice(4, 0).count, 0U);
  EXPECT_THROW(buffer.slice(2, 3), BadUse);
  EXPECT_THROW(buffer.slice(5, 0), BadUse);
  EXPECT_THROW(buffer.slice(1, static_cast<std::size_t>(-1)), BadUse);
}

}  // namespace
}  // namespace ringside
