// Case E4: a save that gathers on rank 0 only, while rank 1 goes on to the next step.
#include <gtest/gtest.h>

#include "collectives/all_gather.hpp"
#include "runtime/errors.hpp"
#include "tests/parallel/tensor_training.hpp"

namespace ringside {
namespace {

TEST(CaseE4, ASaveOnRankZeroAloneIsAMismatchAndNoTimeout) {
  TrainingPlan plan = gpt_plan(small_gpt());
  plan.steps = 2;
  const TensorTraining on{.mesh = {.tp = 2}};
  JobOptions options = job_of(on, plan);
  options.limit = std::chrono::seconds(30);
  const auto result = run_job(2, options, [&](Rank& rank) -> std::string {
    Comm group(rank, "tp", {0, 1});
    TensorParallel tp(group, rank.memory(), std::get<GptConfig>(plan.model));
    const auto model = make_gpt({rank.memory(), rank.clock()}, std::get<GptConfig>(plan.model), 1,
                                {.cut = tp.cut(), .seam = tp.seam()});
    const Batch batch = make_batch(plan.data, 0, 0, plan.batch);
    model->forward_backward(batch);
    if (rank.id() == 0) {
      const Tensor whole(rank.memory(), DType::f64, {2 * 64}, Category::buffers, "save");
      all_gather(group, whole.buffer(), {"ring", "save"});
    }
    model->forward_backward(batch);
    return {};
  });
  ASSERT_FALSE(result.ok());
  EXPECT_THROW(result.raise(), Desync) << result.describe();
  const std::string text = result.describe();
  for (const std::string part : {"all_gather", "all_reduce", "rank 0", "rank 1", "group tp"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in:\n" << text;
  }
  EXPECT_EQ(text.find("silent"), std::string::npos) << text;
}

// The control: both ranks save.
TEST(CaseE4, ASaveOfBothGoesOn) {
  TrainingPlan plan = gpt_plan(small_gpt());
  const TensorTraining on{.mesh = {.tp = 2}};
  const auto result = run_job(2, job_of(on, plan), [&](Rank& rank) -> std::string {
    Comm group(rank, "tp", {0, 1});
    const Tensor whole(rank.memory(), DType::f64, {2 * 64}, Category::buffers, "save");
    all_gather(group, whole.buffer(), {"ring", "save"});
    all_gather(group, whole.buffer(), {"ring", "save"});
    return {};
  });
  EXPECT_TRUE(result.ok()) << result.describe();
}

}  // namespace
}  // namespace ringside
