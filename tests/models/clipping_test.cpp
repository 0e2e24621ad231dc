// Clipping, loss scaling, and steps that are skipped.
#include "models/clipping.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "models/gradient_norm.hpp"
#include "models/loss_scale.hpp"
#include "models/text.hpp"
#include "models/training.hpp"
#include "runtime/errors.hpp"
#include "tests/models/single_device.hpp"

namespace ringside {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(ClipFactor, IsLimitOverNormAboveTheLimitOnly) {
  EXPECT_EQ(clip_factor(5, 1), 0.2);
  EXPECT_EQ(clip_factor(1, 1), 1);
  EXPECT_EQ(clip_factor(0.5, 1), 1);
  EXPECT_EQ(clip_factor(0, 1), 1);
}

TEST(ClipFactor, OfANormThatIsNotFiniteIsNone) {
  EXPECT_FALSE(clip_factor(infinity, 1));
  EXPECT_FALSE(clip_factor(std::nan(""), 1));
}

TEST(ClipFactor, RefusesALimitThatIsNone) {
  EXPECT_THROW(clip_factor(1, 0), BadUse);
  EXPECT_THROW(clip_factor(1, -1), BadUse);
  EXPECT_THROW(clip_factor(1, std::nan("")), BadUse);
}

// One f32 parameter of two elements, trained by gradients that the test makes up.
class MadeUp {
 public:
  explicit MadeUp(TrainingPlan plan) : plan_(std::move(plan)) {
    optimizer_ = make_optimizer(plan_.optimizer, d_.memory, {&parameter_});
  }

  // The gradients of the steps, in turn.
  std::vector<StepRecord> train_on(const std::vector<std::vector<float>>& gradients) {
    plan_.steps = static_cast<int>(gradients.size());
    std::vector<StepRecord> records;
    double scale = 1;
    train(
        plan_, {&parameter_}, *optimizer_,
        [&](int step) {
          const auto& made_up = gradients[static_cast<std::size_t>(step)];
          for (std::size_t e = 0; e < 2; ++e) {
            parameter_.grad.as<float>()[e] = made_up[e] * static_cast<float>(scale);
          }
          return StepSum{.loss = 0, .tokens = 1};
        },
        [&](int, StepRecord record) { records.push_back(std::move(record)); },
        {.scale_loss = [&](double by) { scale = by; }});
    return records;
  }

  std::vector<float> gradient() const { return copy_of<float>(parameter_.grad); }

  std::int64_t steps() const { return optimizer_->steps(); }

 private:
  SingleDevice d_;
  Parameter parameter_{"p", Tensor(d_.memory, DType::f32, {2}, Category::weights, "p"),
                       Tensor(d_.memory, DType::f32, {2}, Category::gradients, "p.grad")};
  TrainingPlan plan_;
  std::unique_ptr<Optimizer> optimizer_;
};

TrainingPlan plan_with(double clip, std::optional<LossScaling> scaling = {}) {
  return {.model = MlpConfig{},
          .optimizer = {.kind = "adamw", .lr = 0.1},
          .data = {.text = builtin_text()},
          .clip = clip,
          .loss_scaling = scaling};
}

TEST(TrainClips, ToTheNormThatItLogs) {
  MadeUp training(plan_with(1));
  const auto record = training.train_on({{3, 4}}).front();
  EXPECT_EQ(record.gradient_norm, 5);
  EXPECT_EQ(record.clip_factor, 0.2);
  EXPECT_EQ(record.gradients.front(), (std::vector<double>{3, 4}));
  EXPECT_EQ(training.gradient(), (std::vector<float>{0.6F, 0.8F}));
}

TEST(TrainClipsCaseC8, AStepWithoutAFiniteNormIsSkipped) {
  const auto inf = std::numeric_limits<float>::infinity();
  for (const float bad : {inf, -inf, std::nanf("")}) {
    MadeUp training(plan_with(1));
    const auto records = training.train_on({{0.3F, 0.4F}, {bad, 0.5F}, {0.1F, 0.2F}});
    MadeUp without(plan_with(1));
    const auto expected = without.train_on({{0.3F, 0.4F}, {0.1F, 0.2F}});
    EXPECT_TRUE(records[1].skipped);
    EXPECT_EQ(records[1].gradients.front()[1], 0.5);  // finite, and not turned into NaN
    EXPECT_EQ(records[1].parameters, records[0].parameters);
    EXPECT_FALSE(records[2].skipped);
    EXPECT_EQ(records[2].parameters, expected[1].parameters);
    EXPECT_EQ(training.steps(), 2);
  }
}

// The control: nobody looks at the norm.
TEST(TrainClipsCaseC8, WithoutClippingTheWeightsAreLost) {
  MadeUp training(plan_with(0));
  const auto records = training.train_on({{std::numeric_limits<float>::infinity(), 0.5F}});
  EXPECT_FALSE(records[0].skipped);
  EXPECT_TRUE(std::isnan(records[0].parameters[0][0]));
}

// ---- Loss scaling -------------------------------------------------------------------------------

TEST(LossScale, FallsAtAnOverflowAndGrowsAfterSoManySteps) {
  LossScale scale({.initial = 8, .growth_interval = 2});
  scale.update(false);
  EXPECT_EQ(scale.value(), 8);
  scale.update(false);
  EXPECT_EQ(scale.value(), 16);
  scale.update(false);
  scale.update(true);
  EXPECT_EQ(scale.value(), 8);
  scale.update(false);
  EXPECT_EQ(scale.value(), 8);  // counted anew
  scale.update(false);
  EXPECT_EQ(scale.value(), 16);
}

TEST(LossScale, ThatIsNotDynamicStays) {
  LossScale scale({.initial = 8, .growth_interval = 1, .dynamic = false});
  scale.update(false);
  EXPECT_EQ(scale.value(), 8);
  scale.update(true);
  EXPECT_EQ(scale.value(), 8);
}

TEST(LossScale, RefusesWhatCannotBe) {
  EXPECT_THROW(LossScale({.initial = 0}), BadUse);
  EXPECT_THROW(LossScale({.growth = 0.5}), BadUse);
  EXPECT_THROW(LossScale({.backoff = 1}), BadUse);
  EXPECT_THROW(LossScale({.growth_interval = 0}), BadUse);
}

// Step 2 of 4 overflows at this scale, and only there.
TEST(LossScaleCaseG6, ASkippedStepDoesNotCount) {
  const LossScaling scaling{.initial = 0x1p100};
  MadeUp training(plan_with(0, scaling));
  const auto records = training.train_on({{0.3F, 0.4F}, {1e9F, 0.5F}, {0.1F, 0.2F}, {-1, 1}});
  MadeUp without(plan_with(0, scaling));
  const auto expected = without.train_on({{0.3F, 0.4F}, {0.1F, 0.2F}, {-1, 1}});
  EXPECT_TRUE(records[1].skipped);
  EXPECT_EQ(training.steps(), 3);
  EXPECT_EQ(records[3].parameters, expected[2].parameters);
  EXPECT_EQ(records[1].loss_scale, 0x1p100);
  EXPECT_EQ(records[2].loss_scale, 0x1p99);
}

TEST(LossScale, ChangesNoBitOfAModelsTraining) {
  TrainingPlan plan{.model = GptConfig{.layers = 1, .hidden = 8, .ffn = 8},
                    .optimizer = {.kind = "adamw", .lr = 0.01},
                    .data = {.text = builtin_text(), .sequence = 8, .context = 1},
                    .batch = 4};
  const auto plain = train_alone(plan);
  plan.loss_scaling = LossScaling{.initial = 1024};
  const auto scaled = train_alone(plan);
  for (std::size_t s = 0; s < plain.size(); ++s) {
    EXPECT_EQ(scaled[s].loss, plain[s].loss);
    EXPECT_EQ(scaled[s].gradients, plain[s].gradients);
    EXPECT_EQ(scaled[s].parameters, plain[s].parameters);
  }
}

TEST(LossScale, NeedsSomebodyWhoScalesTheLoss) {
  const auto plan = plan_with(0, LossScaling{});
  SingleDevice d;
  const auto optimizer = make_optimizer(plan.optimizer, d.memory, {});
  EXPECT_THROW(train(
                   plan, {}, *optimizer, [](int) { return StepSum{}; }, [](int, StepRecord) {}),
               BadUse);
}

}  // namespace
}  // namespace ringside
