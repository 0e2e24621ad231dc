// The chapter's figures of data parallelism and ZeRO, executed on 27,781,427,952 parameters.
#include <gtest/gtest.h>

#include "runtime/errors.hpp"
#include "scenarios/checks.hpp"
#include "scenarios/overrides.hpp"

namespace ringside {
namespace {

Settings anchor(int ranks, int stage) {
  Settings s;
  s.name = "anchor";
  s.cluster.nodes = ranks / 8;
  s.model.config = "qwen3.8-27b";
  s.model.sequence = 4096;
  s.parallel.zero = stage;
  s.dp.bucket = Bytes{4'000'000'000};
  s.dp.bucket_by = "layer";
  s.train = {.steps = 1, .optimizer = "adamw", .batch = ranks};
  s.checks.run = {"traffic", "model_state"};
  resolve(s);
  return s;
}

std::int64_t sent(const RankReport& report, std::string_view prefix) {
  std::int64_t bytes = 0;
  for (const auto& sum : report.sums) {
    bytes += std::string_view(sum.label).starts_with(prefix) ? sum.sent_bytes : 0;
  }
  return bytes;
}

std::int64_t model_state(const StepOutcome& step) {
  std::int64_t bytes = 0;
  for (const Category category : {Category::weights, Category::gradients, Category::master_weights,
                                  Category::optimizer_state}) {
    bytes += step.memory[static_cast<std::size_t>(category)];
  }
  return bytes;
}

constexpr std::int64_t parameters = 27'781'427'952;

TEST(TrueScale, ModelStateFallsFrom444To152To104To55GigabytesOn8Ranks) {
  const std::int64_t by_stage[] = {16 * parameters, 4 * parameters + 12 * parameters / 8,
                                   2 * parameters + 14 * parameters / 8, 2 * parameters};
  for (int stage = 0; stage < 4; ++stage) {
    const auto outcome = run_at_true_scale(anchor(8, stage), {});
    std::int64_t sum = 0;
    for (const auto& rank : outcome.ranks) {
      sum += model_state(rank.back());
    }
    EXPECT_EQ(sum, 8 * by_stage[stage]) << stage;
    for (std::size_t r = 0; r < 8; ++r) {
      const RankReport& report = outcome.job.ranks[r].report;
      const std::int64_t gradients = sent(report, "grad.bucket.");
      const std::int64_t all = gradients + sent(report, "param.bucket.");
      EXPECT_EQ(all, stage < 3 ? 97'234'997'832 : 145'852'496'748) << stage << ", rank " << r;
    }
  }
}

TEST(TrueScale, DataParallelismRunsOutOfMemoryOnAnyNumberOfCards) {
  for (const int ranks : {8, 16, 64}) {
    Settings s = anchor(ranks, 0);
    EXPECT_EQ(model_state(run_at_true_scale(s, {}).ranks.back().back()) / 100'000'000, 4445)
        << ranks << " ranks, padding included";
    s.cluster.capacity = Bytes{80'000'000'000};
    EXPECT_THROW(run_at_true_scale(s, {}), OutOfDeviceMemory) << ranks;
  }
  Settings s = anchor(8, 3);
  s.cluster.capacity = Bytes{80'000'000'000};
  EXPECT_NO_THROW(run_at_true_scale(s, {}));
  s.cluster.capacity = Bytes{50'000'000'000};
  EXPECT_THROW(run_at_true_scale(s, {}), OutOfDeviceMemory) << "the control";
}

// The layers of a rank of 8, for 4,096 tokens; its state is its part's, whole or cut further.
TEST(TrueScale, UnderTensorParallelismARankSends18790481920BytesInTheLayers) {
  for (const int stage : {0, 3}) {
    Settings s = anchor(stage == 0 ? 8 : 16, stage);
    s.parallel.tp = 8;
    s.parallel.dp = 0;
    s.train.batch = s.ranks / 8;
    resolve(s);
    const auto outcome = run_at_true_scale(s, {});
    for (std::size_t r = 0; r < outcome.ranks.size(); ++r) {
      EXPECT_EQ(sent(outcome.job.ranks[r].report, "layers."), 18'790'481'920) << r;
      EXPECT_EQ(model_state(outcome.ranks[r].back()),
                model_state_by_formula(s, static_cast<int>(r)))
          << r;
    }
    const auto seen = model_state(outcome.ranks.front().back());
    EXPECT_EQ(seen / 100'000'000, stage == 0 ? 683 : 341) << "nothing but padding comes on top";
  }
  Settings control = anchor(8, 0);
  control.parallel.tp = 8;
  control.parallel.dp = 0;
  control.model.sequence = 4095;
  control.train.batch = 1;
  resolve(control);
  EXPECT_NE(sent(run_at_true_scale(control, {}).job.ranks[0].report, "layers."), 18'790'481'920);
}

TEST(TrueScale, RanksThatCannotShareATensorAreRefused) {
  Settings s = anchor(8, 0);
  s.cluster.gpus_per_node = 5;
  s.ranks = 5;
  s.parallel.tp = 5;
  s.parallel.dp = 0;
  EXPECT_THROW(resolve(s), BadUse);
}

constexpr std::int64_t row = 2 * 4096 * 5120;  // bytes: 4,096 tokens of 5,120 numbers in bf16

std::int64_t peak_activations(const RankReport& report) {
  return report.memory.peak[static_cast<std::size_t>(Category::activations)];
}

TEST(TrueScale, FullRecomputeKeepsTheInputsOf64LayersAndHasOneLayerInFlight) {
  Settings s = anchor(8, 3);
  s.parallel.recompute = "full";
  resolve(s);
  const auto full = run_at_true_scale(s, {});
  const auto none = run_at_true_scale(anchor(8, 3), {});
  for (std::size_t r = 0; r < 8; ++r) {
    const StepOutcome& step = full.ranks[r].back();
    EXPECT_EQ(step.kept_of_blocks, 2'684'354'560);
    EXPECT_EQ(step.in_flight_of_blocks, 3 * row);
    // At the loss: tokens, inputs of the blocks and of four layers beside them, logits twice.
    EXPECT_EQ(peak_activations(full.job.ranks[r].report),
              4 * 4096 + (64 + 4) * row + 2 * 2 * 4096 * 248'320LL);
    EXPECT_EQ(none.ranks[r].back().kept_of_blocks, 2 * 2'684'354'560) << "the control";
    EXPECT_EQ(
        peak_activations(none.job.ranks[r].report) - peak_activations(full.job.ranks[r].report),
        2'684'354'560);
    EXPECT_EQ(model_state(step), model_state(none.ranks[r].back()));
  }
}

// Forward of the 64 layers is charged once more: their matrix products, 2 operations each.
TEST(TrueScale, FullRecomputeChargesForwardAgain) {
  const auto computing = [](const char* recompute) {
    Settings s = anchor(8, 0);
    s.parallel.recompute = recompute;
    s.dp.overlap = false;
    const StepOutcome step = run_at_true_scale(s, {}).ranks[0].back();
    return static_cast<double>((step.backward_end - step.start).count());
  };
  const double layers = 24'353'201'664 - 5'120 -                      // the final norm
                        655'360 - 8'192 - 1'966'080 - 4'608 - 6'144;  // what is no product
  const double again = 2 * 4096 * layers / 400e12 * 1e12;
  EXPECT_NEAR(computing("full") - computing("none"), again, 1000);
}

TEST(TrueScale, SelectiveRecomputeIsRefused) {
  Settings s = anchor(8, 3);
  s.parallel.recompute = "selective";
  EXPECT_THROW(resolve(s), BadUse);
  s.parallel.recompute = "full";
  s.parallel.tp = 8;
  s.parallel.dp = 0;
  EXPECT_THROW(resolve(s), BadUse);
}

TEST(TrueScale, ChecksThatNeedDataAreRefused) {
  Settings s = anchor(8, 3);
  s.checks.run = {"gradients"};
  EXPECT_THROW(resolve(s), BadUse);
}

}  // namespace
}  // namespace ringside
