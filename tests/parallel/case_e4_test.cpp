// Case E4: a save that gathers on rank 0 only, while rank 1 goes on to the next step.
#include <gtest/gtest.h>

#include <regex>

#include "collectives/all_gather.hpp"
#include "collectives/all_reduce.hpp"
#include "runtime/errors.hpp"
#include "tests/parallel/tensor_training.hpp"

namespace ringside {
namespace {

void save(Comm& group, DeviceMemory& memory) {
  const Tensor whole(memory, DType::f64, {2 * 64}, Category::buffers, "save");
  all_gather(group, whole.buffer(), {"ring", "save"});
}

// Each rank is named with what it is in, and nobody waits until a limit.
void expect_mismatch(const JobResult& result, const std::string& label_of_rank_1) {
  ASSERT_FALSE(result.ok());
  EXPECT_THROW(result.raise(), Desync) << result.describe();
  const std::string text = result.describe();
  const std::vector<std::string> parts{
      R"(group tp: rank 0 is in all_gather [^"]*"save")",
      R"(group tp: rank 1 is in all_reduce [^"]*")" + label_of_rank_1 + "\""};
  for (const std::string& part : parts) {
    EXPECT_TRUE(std::regex_search(text, std::regex(part))) << part << " is not in:\n" << text;
  }
  EXPECT_EQ(text.find("silent"), std::string::npos) << text;
}

TEST(CaseE4, ASaveOnRankZeroAloneIsAMismatchAndNoTimeout) {
  JobOptions options = small_job();
  options.limit = std::chrono::seconds(30);
  const auto result = run_job(2, options, [&](Rank& rank) -> std::string {
    Comm group(rank, "tp", {0, 1});
    const Tensor gradient(rank.memory(), DType::f64, {64}, Category::gradients, "grad");
    for (int step = 0; step < 2; ++step) {
      all_reduce(group, gradient.buffer(), ReduceOp::sum, {"ring", "grad"});
      if (rank.id() == 0) {
        save(group, rank.memory());
      }
    }
    return {};
  });
  expect_mismatch(result, "grad");
}

// Rank 1 has gone on to the forward of the next step.
TEST(CaseE4, InATrainingOfAGptToo) {
  TrainingPlan plan = gpt_plan(small_gpt());
  JobOptions options = job_of({.mesh = {.tp = 2}}, plan);
  options.limit = std::chrono::seconds(30);
  const auto result = run_job(2, options, [&](Rank& rank) -> std::string {
    Comm group(rank, "tp", {0, 1});
    TensorParallel tp(group, rank.memory(), std::get<GptConfig>(plan.model));
    const auto model = make_gpt({rank.memory(), rank.clock()}, std::get<GptConfig>(plan.model), 1,
                                {.cut = tp.cut(), .seam = tp.seam()});
    const Batch batch = make_batch(plan.data, 0, 0, plan.batch);
    for (int step = 0; step < 2; ++step) {
      model->forward_backward(batch);
      if (rank.id() == 0) {
        save(group, rank.memory());
      }
    }
    return {};
  });
  expect_mismatch(result, "embed");
}

TEST(CaseE4Control, ASaveOfBothGoesOn) {
  const auto result = run_job(2, small_job(), [&](Rank& rank) -> std::string {
    Comm group(rank, "tp", {0, 1});
    save(group, rank.memory());
    save(group, rank.memory());
    return {};
  });
  EXPECT_TRUE(result.ok()) << result.describe();
}

}  // namespace
}  // namespace ringside
