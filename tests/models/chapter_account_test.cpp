// The chapter's account of compute: N' of the anchor, and what its layers then charge.
#include "models/chapter_account.hpp"

#include <gtest/gtest.h>

#include "models/meta_layer.hpp"
#include "runtime/errors.hpp"

namespace ringside {
namespace {

constexpr std::int64_t body = 24'353'201'664;  // the chapter's: layers and final norm
constexpr std::int64_t head = 1'271'398'400;

// Operations of forward and backward.
std::int64_t charged(const PublishedModel& model, std::size_t tokens) {
  DeviceMemory memory(1UL << 20, Backing::meta);
  ComputeClock clock{Rate{1'000'000'000'000}};  // one operation, one picosecond
  make_meta_model({memory, clock}, model, DType::bf16)->forward_backward(meta_batch(tokens));
  return clock.stream().now.count();
}

TEST(ChapterAccount, CountsTheParametersOfTheText) {
  EXPECT_EQ(text_parameters(published_model("qwen3.8-27b")), static_cast<std::size_t>(body + head));
}

TEST(ChapterAccount, ChargesTwoOperationsAParameterForwardAndFourBackward) {
  const auto model = published_model("qwen3.8-27b");
  EXPECT_EQ(charged(by_chapter_account(model), 100), 6 * 100 * (body + head));
  EXPECT_NE(charged(model, 100), 6 * 100 * (body + head)) << "the counted account is another";
}

TEST(ChapterAccount, HasNoMixtureOfExperts) {
  EXPECT_THROW(by_chapter_account(published_model("deepseek-v3")), BadUse);
}

}  // namespace
}  // namespace ringside
