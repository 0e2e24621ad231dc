// A GPT under data parallelism: tied tables, and uneven batches.
#include <gtest/gtest.h>

#include "tests/parallel/small_training.hpp"

namespace ringside {
namespace {

TEST(GptDataParallel, EqualsOneProcessTiedOrNot) {
  for (const bool tied : {false, true}) {
    const auto plan = small_gpt_plan(16, tied, DType::f64);
    const auto truth = train_alone(plan);
    for (const int ranks : {2, 3, 4, 8}) {
      const auto seen =
          train_on({.ranks = ranks, .options = {.buckets = {.limit = Bytes{2048}}}}, plan, truth);
      EXPECT_LT(seen.gradients.absolute, 1e-12) << ranks << " ranks, tied " << tied;
    }
    const auto faulty = train_on(
        {.options = {.buckets = {.limit = Bytes{2048}}, .fault = Fault::last_bucket_dropped}}, plan,
        truth);
    EXPECT_GT(faulty.gradients.absolute, 1e-6) << "the control, tied " << tied;
  }
}

TEST(GptDataParallel, UnevenBatchesAndMicrobatchesWithoutATokenGiveTheGradientOfAll) {
  const auto plan = small_gpt_plan(5, true, DType::f64);
  const auto truth = train_alone(plan);
  for (const int microbatches : {1, 2, 4}) {
    const auto seen = train_on({.ranks = 3, .microbatches = microbatches}, plan, truth);
    EXPECT_LT(seen.gradients.absolute, 1e-12) << microbatches;
  }
}

TEST(GptDataParallel, ATiedTablesBucketLeavesLast) {
  const auto plan = small_gpt_plan(1, true);
  const auto buckets =
      cut_buckets(tensor_counts(plan.model), {.limit = Bytes{2048}}, sizeof(float), 2);
  EXPECT_EQ(buckets.back().last_layer(), 0U);
  EXPECT_EQ(buckets.back().count, 256U * 12U);
}

}  // namespace
}  // namespace ringside
