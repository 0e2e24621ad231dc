// The training loop alone: what it logs, that it learns, and that its memory suffices.
#include "models/training.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "models/gradient_norm.hpp"
#include "models/text.hpp"
#include "tests/models/single_device.hpp"

namespace ringside {
namespace {

TrainingPlan small_plan() {
  return {.model = MlpConfig{.context = 3, .embedding = 4, .hidden = 6, .dtype = DType::f64},
          .optimizer = {},
          .data = {.text = builtin_text(), .sequence = 12, .context = 3},
          .batch = 5};
}

Parameter with_gradient(SingleDevice& d, DType dtype, std::size_t count) {
  return {"p", Tensor(d.memory, dtype, {count}, Category::weights, "p"),
          Tensor(d.memory, dtype, {count}, Category::gradients, "p.grad")};
}

TEST(GradientNorm, IsTheRootOfTheSumOverAllParameters) {
  SingleDevice d;
  Parameter a = with_gradient(d, DType::f64, 2);
  Parameter b = with_gradient(d, DType::f64, 1);
  a.grad.as<double>()[0] = 2;
  a.grad.as<double>()[1] = -3;
  b.grad.as<double>()[0] = 6;
  EXPECT_EQ(sum_of_squares({&a, &b}), 49);
  EXPECT_EQ(gradient_norm({&a, &b}), 7);
  EXPECT_EQ(gradient_norm({}), 0);
}

// In f32 the squares would vanish.
TEST(GradientNorm, AddsInF64AndRoundsOnce) {
  SingleDevice d;
  Parameter p = with_gradient(d, DType::f32, 1000);
  for (float& element : p.grad.as<float>()) {
    element = 1e-30F;
  }
  const double each = static_cast<double>(1e-30F) * static_cast<double>(1e-30F);
  const double root = std::sqrt(each * 1000);
  EXPECT_EQ(gradient_norm({&p}), static_cast<double>(static_cast<float>(root)));
}

TEST(Train, DividesTheTokenSumOnceByTheTokens) {
  TrainingPlan plan = small_plan();
  plan.steps = 1;
  const StepRecord record = train_alone(plan).front();
  SingleDevice d;
  const auto model = make_model(d.device, plan.model, plan.data.seed);
  const Batch batch = make_batch(plan.data, 0, 0, plan.batch);
  ASSERT_NE(batch.tokens(), 5 * 12);  // sample 0 is longer
  const auto tokens = static_cast<double>(batch.tokens());
  EXPECT_EQ(record.loss, model->forward_backward(batch) / tokens);
  double squares = 0;
  const auto parameters = flatten(model->layers());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    auto grad = copy_of<double>(parameters[i]->grad);
    for (std::size_t e = 0; e < grad.size(); ++e) {
      grad[e] /= tokens;
      squares += grad[e] * grad[e];
      EXPECT_EQ(record.parameters[i][e], parameters[i]->value.as<double>()[e] - 0.1 * grad[e]);
    }
    EXPECT_EQ(record.gradients[i], grad);
  }
  EXPECT_EQ(record.gradient_norm, std::sqrt(squares));
}

TEST(Train, ScalesLossAndGradientDown) {
  TrainingPlan plan = small_plan();
  plan.steps = 1;
  const StepRecord whole = train_alone(plan).front();
  plan.loss_divisor = 1024;
  const StepRecord scaled = train_alone(plan).front();
  EXPECT_EQ(scaled.loss, whole.loss / 1024);
  EXPECT_EQ(scaled.gradient_norm, whole.gradient_norm / 1024);
}

TEST(Train, RunsTwiceToTheSameBits) {
  TrainingPlan plan = small_plan();
  std::get<MlpConfig>(plan.model).dtype = DType::f32;
  const auto first = train_alone(plan);
  const auto second = train_alone(plan);
  ASSERT_EQ(first.size(), 3U);
  for (std::size_t s = 0; s < first.size(); ++s) {
    EXPECT_EQ(first[s].loss, second[s].loss);
    EXPECT_EQ(first[s].gradients, second[s].gradients);
    EXPECT_EQ(first[s].parameters, second[s].parameters);
  }
  EXPECT_NE(first[0].gradients, first[1].gradients);
}

TEST(Train, OfNoSamplesChangesNothing) {
  TrainingPlan plan = small_plan();
  plan.batch = 0;
  const auto records = train_alone(plan);
  EXPECT_EQ(records.back().loss, 0);
  EXPECT_EQ(records.back().gradient_norm, 0);
  EXPECT_EQ(records.back().parameters, records.front().parameters);
}

// Mean losses of the first step and of the last ten of 200.
std::pair<double, double> losses_alone(const OptimizerConfig& optimizer) {
  TrainingPlan plan{.model = MlpConfig{.embedding = 8, .hidden = 48},
                    .optimizer = optimizer,
                    .data = {.text = builtin_text()},
                    .steps = 200,
                    .batch = 8};
  const auto records = train_alone(plan);
  double last = 0;
  for (std::size_t i = records.size() - 10; i < records.size(); ++i) {
    last += records[i].loss / 10;
  }
  return {records.front().loss, last};
}

TEST(Train, LearnsTheBuiltinTextWithSgd) {
  const auto [first, last] = losses_alone({.kind = "sgd", .lr = 0.1});
  RecordProperty("first", std::to_string(first));
  RecordProperty("last", std::to_string(last));
  EXPECT_NEAR(first, std::log(256.0), 0.3);
  EXPECT_LT(last, 3.5);
  EXPECT_GT(last, 0);
}

TEST(Train, LearnsTheBuiltinTextWithAdamW) {
  const auto [first, last] = losses_alone({.kind = "adamw", .lr = 0.01});
  RecordProperty("first", std::to_string(first));
  RecordProperty("last", std::to_string(last));
  EXPECT_LT(last, 3.0);
  EXPECT_GT(last, 0);
}

// Half of ln 256, which is what a model knows that knows nothing. At two cores, within a minute.
TEST(Train, AGptLearnsTheBuiltinTextToHalfOfItsFirstLoss) {
  const TrainingPlan plan{.model = GptConfig{},
                          .optimizer = {.kind = "adamw", .lr = 0.003},
                          .data = {.text = builtin_text(), .sequence = 64, .context = 1},
                          .steps = 50,
                          .batch = 16};
  const auto records = train_alone(plan);
  double last = 0;
  for (std::size_t i = records.size() - 5; i < records.size(); ++i) {
    last += records[i].loss / 5;
  }
  RecordProperty("last", std::to_string(last));
  EXPECT_NEAR(records.front().loss, std::log(256.0), 0.3);
  EXPECT_LT(last, std::log(256.0) / 2);
  EXPECT_GT(last, 0);
}

TEST(MemoryEstimate, SufficesForAGpt) {
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16}) {
    for (const std::size_t sequence : {1U, 200U}) {
      TrainingPlan plan{.model = GptConfig{.layers = 1, .hidden = 8, .ffn = 8, .dtype = dtype},
                        .optimizer = {.kind = "adamw"},
                        .data = {.text = builtin_text(), .sequence = sequence, .context = 1},
                        .steps = 1,
                        .batch = 40};
      EXPECT_NO_THROW(train_alone(plan)) << sequence;
      std::get<GptConfig>(plan.model).hidden = 128;
      EXPECT_NO_THROW(train_alone(plan)) << sequence;
    }
  }
}

TEST(MemoryEstimate, Suffices) {
  for (const std::size_t layers : {0U, 1U, 4U}) {
    for (const std::size_t context : {1U, 64U}) {
      for (const std::size_t hidden : {1U, 128U}) {
        TrainingPlan plan = small_plan();
        auto& model = std::get<MlpConfig>(plan.model);
        model.context = plan.data.context = context;
        model.hidden = hidden;
        model.layers = layers;
        plan.optimizer.kind = "adamw";
        plan.batch = 40;
        plan.steps = 1;
        EXPECT_NO_THROW(train_alone(plan)) << layers << " " << context << " " << hidden;
      }
    }
  }
}

}  // namespace
}  // namespace ringside
