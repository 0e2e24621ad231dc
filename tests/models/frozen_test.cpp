// Frozen parameters (case G7, one process).
#include <gtest/gtest.h>

#include "models/gpt.hpp"
#include "models/text.hpp"
#include "models/training.hpp"
#include "tests/models/single_device.hpp"

namespace ringside {
namespace {

const GptConfig config{.layers = 2, .hidden = 8, .ffn = 8, .dtype = DType::f64};
const TrainingPlan plan{.model = config,
                        .optimizer = {.kind = "adamw", .lr = 0.01},
                        .data = {.text = builtin_text(), .sequence = 8, .context = 1},
                        .steps = 2,
                        .batch = 3};

// Trains the model as it stands.
std::vector<StepRecord> train_model(Model& model, Optimizer& optimizer) {
  const auto parameters = flatten(model.layers());
  std::vector<StepRecord> records;
  train(
      plan, parameters, optimizer,
      [&](int step) {
        zero_gradients(parameters);
        const Batch batch = make_batch(plan.data, static_cast<std::uint64_t>(step), 0, plan.batch);
        return StepSum{model.forward_backward(batch), batch.tokens()};
      },
      [&](int, StepRecord record) { records.push_back(std::move(record)); });
  return records;
}

struct HalfFrozen {
  HalfFrozen() {
    for (std::size_t i = 0; i < parameters.size(); i += 2) {
      freeze(*parameters[i]);
      frozen += parameters[i]->value.bytes();
    }
    all = 0;
    for (const Parameter* p : parameters) {
      all += p->value.bytes();
    }
  }

  SingleDevice d;
  std::unique_ptr<Model> model = make_gpt(d.device, config, 1);
  std::vector<Parameter*> parameters = flatten(model->layers());
  std::size_t frozen = 0;  // bytes
  std::size_t all = 0;
};

TEST(FrozenCaseG7, KeepTheirBitsAndHaveNeitherGradientNorState) {
  HalfFrozen half;
  const auto learning = static_cast<std::int64_t>(half.all - half.frozen);
  const auto optimizer = make_optimizer(plan.optimizer, half.d.memory, half.parameters);
  EXPECT_EQ(half.d.held(Category::gradients), learning);
  EXPECT_EQ(half.d.held(Category::optimizer_state), 2 * learning);
  std::vector<std::vector<double>> before;
  for (const Parameter* p : half.parameters) {
    before.push_back(copy_of<double>(p->value));
  }
  const auto records = train_model(*half.model, *optimizer);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const bool kept = records.back().parameters[i] == before[i];
    EXPECT_EQ(kept, i % 2 == 0) << half.parameters[i]->name;
    EXPECT_EQ(records.back().gradients[i].empty(), i % 2 == 0);
  }
}

TEST(FrozenCaseG7, TheOthersGetTheGradientsOfTheWholeModel) {
  HalfFrozen half;
  const auto optimizer = make_optimizer(plan.optimizer, half.d.memory, half.parameters);
  const auto records = train_model(*half.model, *optimizer);
  const auto whole = train_alone(plan);
  for (std::size_t i = 1; i < half.parameters.size(); i += 2) {
    EXPECT_EQ(records.front().gradients[i], whole.front().gradients[i]) << half.parameters[i]->name;
  }
  EXPECT_LT(records.front().gradient_norm, whole.front().gradient_norm);
}

TEST(FrozenCaseG7, WhatIsUnfrozenBeginsWithItsFirstStep) {
  HalfFrozen half;
  const auto optimizer = make_optimizer(plan.optimizer, half.d.memory, half.parameters);
  train_model(*half.model, *optimizer);
  Parameter& late = *half.parameters[0];
  const auto before = copy_of<double>(late.value);
  unfreeze(late, half.d.memory);
  zero_gradients(half.parameters);
  late.grad.as<double>()[0] = 1e-3;
  optimizer->step();
  // Adam's first step is the learning rate, whatever the gradient; decay is 1e-4 of the weight.
  EXPECT_NEAR(late.value.as<double>()[0], before[0] * (1 - 1e-4) - 0.01, 1e-6);
  EXPECT_EQ(optimizer->steps(), 3);
}

TEST(Frozen, WeightsChargeNoWeightGradient) {
  HalfFrozen half;
  train_model(*half.model, *make_optimizer(plan.optimizer, half.d.memory, half.parameters));
  const auto charged = [&](const std::string& label) {
    return std::ranges::any_of(half.d.charges, [&](const auto& c) { return c.first == label; });
  };
  // embed 0, norm1 1, q 2, k 3, ...
  EXPECT_FALSE(charged("layers.0.attention.q weight gradient"));
  EXPECT_TRUE(charged("layers.0.attention.q input gradient"));
  EXPECT_TRUE(charged("layers.0.attention.k weight gradient"));
}

TEST(Trainable, LeavesOutWhatIsFrozenAndKeepsTheLayers) {
  HalfFrozen half;
  const auto layers = trainable(half.model->layers());
  ASSERT_EQ(layers.size(), half.model->layer_count());
  EXPECT_TRUE(layers.front().empty());
  EXPECT_EQ(layers[1].size(), 5U);
}

}  // namespace
}  // namespace ringside
