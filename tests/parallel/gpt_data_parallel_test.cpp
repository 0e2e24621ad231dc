// A GPT under data parallelism: tied tables, uneven batches, parameters that some micro-batches do
// not use.
#include <gtest/gtest.h>

#include "tests/parallel/small_training.hpp"

namespace ringside {
namespace {

TEST(GptDataParallel, EqualsOneProcessTiedOrNot) {
  for (const bool tied : {false, true}) {
    const auto plan = small_gpt_plan(16, tied, DType::f64);
    const auto truth = train_alone(plan);
    for (const int ranks : {2, 3, 4, 8}) {
      const auto seen = train_on({.ranks = ranks, .options = {.bucket = Bytes{2048}}}, plan, truth);
      EXPECT_LT(seen.gradients.absolute, 1e-12) << ranks << " ranks, tied " << tied;
    }
    const auto faulty = train_on(
        {.options = {.bucket = Bytes{2048}, .fault = Fault::last_bucket_dropped}}, plan, truth);
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
  const auto buckets = cut_buckets(tensor_counts(plan.model), Bytes{2048}, sizeof(float), 2);
  EXPECT_EQ(buckets.back().layer, 0U);
  EXPECT_EQ(buckets.back().count, 256U * 12U);
}

// The gradient of c as rank 0 has it: rank r's first micro-batch adds 1 + r, its second nothing.
double reduced_gradient(bool sync_every_microbatch, bool forgotten) {
  const auto seen = run_ranks_tested(2, small_job(), [=](Rank& rank) {
    std::vector<Parameter> parameters(2);
    for (auto& p : parameters) {
      p.name = &p == &parameters.front() ? "used" : "c";
      p.value = Tensor(rank.memory(), DType::f64, {3}, Category::weights, p.name);
    }
    DataParallel dp(rank.world(), rank.memory(), {{&parameters[0]}, {&parameters[1]}},
                    {.sync_every_microbatch = sync_every_microbatch});
    dp.begin_step();
    for (int m = 0; m < 2; ++m) {
      parameters[0].grad.as<double>()[0] += 1;
      parameters[1].grad.as<double>()[0] += m == 0 ? 1 + rank.id() : 0;
      if (dp.reduces(m, 2)) {
        if (forgotten) {
          parameters[1].grad.as<double>()[0] = 0;
        }
        dp.layer_done(1);
        dp.layer_done(0);
        dp.finish();
      }
    }
    dp.end_step();
    return parameters[1].grad.as<double>()[0];
  });
  EXPECT_EQ(seen[0], seen[1]);
  return seen[0];
}

TEST(CaseF5, AParameterThatOnlyTheFirstMicrobatchUsesIsReducedInTheSyncStep) {
  EXPECT_EQ(reduced_gradient(false, false), 3);
  EXPECT_EQ(reduced_gradient(true, false), 3);
  EXPECT_NE(reduced_gradient(false, true), 3) << "the control";
}

}  // namespace
}  // namespace ringside
