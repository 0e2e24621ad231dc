// Tensor and sequence parallelism against one process: loss, norm, every gradient, every parameter.
#include "parallel/tensor_parallel.hpp"

#include <gtest/gtest.h>

#include "tests/parallel/tensor_training.hpp"

namespace ringside {
namespace {

std::string described(const TensorTraining& on, const GptConfig& config) {
  return "tp " + std::to_string(on.mesh.tp) + ", dp " + std::to_string(on.mesh.dp) +
         (on.options.sequence ? ", sequence parallel" : "") + (config.tied ? ", tied" : "");
}

void expect_f64(const TensorTraining& on, const GptConfig& config, const std::string& optimizer) {
  const auto plan = gpt_plan(config, optimizer);
  const auto seen = train_on(on, plan, train_alone(plan));
  const std::string what = described(on, config) + ", " + optimizer;
  EXPECT_LT(seen.gradients, 1e-12) << what;
  EXPECT_LT(seen.loss, 1e-12) << what;
  EXPECT_LT(seen.norm, 1e-12) << what;
  EXPECT_LT(seen.parameters, 1e-12) << what;
}

TEST(TensorParallel, EqualsOneProcessInF64) {
  for (const bool tied : {false, true}) {
    for (const int tp : {2, 4, 8}) {
      for (const bool sequence : {false, true}) {
        expect_f64({.mesh = {.tp = tp}, .options = {.sequence = sequence}},
                   small_gpt(DType::f64, tied), "sgd");
      }
    }
  }
}

TEST(TensorParallel, EqualsOneProcessOnThreeRanks) {
  for (const bool sequence : {false, true}) {
    expect_f64({.mesh = {.tp = 3}, .options = {.sequence = sequence}}, gpt_for_three(), "sgd");
  }
}

TEST(TensorParallel, EqualsOneProcessWithAdamW) {
  for (const bool sequence : {false, true}) {
    expect_f64({.mesh = {.tp = 4}, .options = {.sequence = sequence}}, small_gpt(), "adamw");
  }
}

TEST(TensorParallel, TimesDataParallelEqualsOneProcess) {
  for (const bool sequence : {false, true}) {
    for (const MeshShape mesh :
         {MeshShape{.tp = 2, .dp = 2}, MeshShape{.tp = 4, .dp = 2}, MeshShape{.tp = 2, .dp = 3}}) {
      expect_f64({.mesh = mesh, .options = {.sequence = sequence}}, small_gpt(), "sgd");
    }
    expect_f64({.mesh = {.tp = 2, .dp = 2}, .options = {.sequence = sequence}, .microbatches = 2},
               small_gpt(), "sgd");
  }
}

TEST(TensorParallel, EqualsOneProcessInThreadsToo) {
  expect_f64({.mesh = {.tp = 2, .dp = 2}, .options = {.sequence = true}, .as = Ranks::threads},
             small_gpt(), "sgd");
}

TEST(TensorParallel, EqualsOneProcessWithFullRecompute) {
  GptConfig config = small_gpt();
  config.recompute = Recompute::full;
  expect_f64({.mesh = {.tp = 2}, .options = {.sequence = true}}, config, "sgd");
}

// The gates of docs/exactness.md.
TEST(TensorParallel, PassesTheGatesInF32) {
  for (const std::string optimizer : {"sgd", "adamw"}) {
    const auto plan = gpt_plan(small_gpt(DType::f32), optimizer);
    const auto truth = train_alone(plan);
    for (const int tp : {2, 4, 8}) {
      for (const bool sequence : {false, true}) {
        const TensorTraining on{.mesh = {.tp = tp}, .options = {.sequence = sequence}};
        const auto seen = train_on(on, plan, truth);
        EXPECT_LT(seen.loss, 1e-5) << tp << sequence << optimizer;
        EXPECT_LT(seen.first_gradients, 1e-6) << tp << sequence << optimizer;
        if (optimizer == "sgd") {
          EXPECT_LT(seen.gradients, 1e-6) << tp << sequence;
          EXPECT_LT(seen.of_largest, 1e-5) << tp << sequence;
          EXPECT_LT(seen.parameters, 1e-6) << tp << sequence;
          EXPECT_LT(seen.norm, 1e-6) << tp << sequence;
        }
      }
    }
  }
}

// ---- Negative controls --------------------------------------------------------------------------

TensorSeen with_fault(Fault fault, bool sequence, int tp = 4) {
  const auto plan = gpt_plan(small_gpt());
  return train_on({.mesh = {.tp = tp}, .options = {.sequence = sequence, .fault = fault}}, plan,
                  train_alone(plan));
}

TEST(TensorParallelControl, AMissingSumIsSeen) {
  for (const bool sequence : {false, true}) {
    EXPECT_GT(with_fault(Fault::leave_not_reduced, sequence).gradients, 1e-4) << sequence;
  }
}

TEST(TensorParallelControl, AReplicatedGradientThatIsNotSummedIsSeen) {
  EXPECT_GT(with_fault(Fault::replicated_gradient_not_summed, true, 2).gradients, 1e-4);
  // Without sequence parallelism only the copied KV heads have it.
  EXPECT_GT(with_fault(Fault::replicated_gradient_not_summed, false).gradients, 1e-4);
  EXPECT_LT(with_fault(Fault::replicated_gradient_not_summed, false, 2).gradients, 1e-12);
}

TEST(TensorParallelControl, ANormCountedPerRankIsSeenInTheNormOnly) {
  const auto seen = with_fault(Fault::norm_counted_per_rank, false);
  EXPECT_GT(seen.norm, 1e-4);
  EXPECT_LT(seen.gradients, 1e-12);
}

TEST(TensorParallelControl, PaddingCountedInTheSoftmaxIsSeen) {
  for (const bool sequence : {false, true}) {
    const auto seen = with_fault(Fault::padding_counted, sequence);
    EXPECT_GT(seen.loss, 1e-4) << sequence;
    EXPECT_GT(seen.gradients, 1e-6) << sequence;
  }
}

// ---- What is sent -------------------------------------------------------------------------------

struct Sent {
  std::int64_t layers = 0;  // under the labels of the blocks
  std::int64_t ends = 0;    // embed and head
  std::int64_t softmax = 0;
};

std::vector<Sent> sent(const TensorTraining& on, const TrainingPlan& plan) {
  JobOptions job = job_of(on, plan);
  job.log = LogLevel::summary;
  const auto result = run_job_tested(on.mesh.ranks(), job, [&](Rank& rank) {
    train_tensor_rank(rank, on, plan, [](int, const auto&, const auto&) {});
    return std::string();
  });
  std::vector<Sent> all;
  for (const auto& rank : result.ranks) {
    Sent& sum = all.emplace_back();
    for (const auto& row : rank.report.sums) {
      const std::string label(std::string_view(row.label));
      const bool tp = std::string_view(row.group) == "tp";
      sum.layers += tp && label.starts_with("layers.") ? row.sent_bytes : 0;
      sum.ends += tp && (label == "embed" || label == "head") ? row.sent_bytes : 0;
      sum.softmax += tp && label == "loss" ? row.sent_bytes : 0;
    }
  }
  return all;
}

// 4 * 2(t-1)/t * tokens * hidden * bytes a layer, with and without sequence parallelism. The first
// sample has 27 tokens.
TEST(TensorParallelTraffic, IsTheFormulaToTheByte) {
  auto plan = gpt_plan(gpt_for_three());
  plan.steps = 1;
  plan.batch = 1;
  constexpr std::int64_t tokens = 27;
  constexpr int tp = 3;
  constexpr std::int64_t whole = tokens * 16 * 8;  // bytes of [tokens, hidden] in f64
  for (const bool sequence : {false, true}) {
    const TensorTraining on{.mesh = {.tp = tp}, .options = {.sequence = sequence}};
    for (const Sent& rank : sent(on, plan)) {
      EXPECT_EQ(rank.layers, 2 * 4 * 2 * (tp - 1) * whole / tp) << sequence;
      EXPECT_EQ(rank.ends, 4 * (tp - 1) * whole / tp) << sequence;
      EXPECT_EQ(rank.softmax, 2 * (tp - 1) * tokens * 3 * 8 / tp) << sequence;
    }
  }
}

}  // namespace
}  // namespace ringside
