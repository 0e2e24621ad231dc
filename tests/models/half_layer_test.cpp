// bf16 weights and gradients, with and without f32 masters.
#include "models/half_layer.hpp"

#include <gtest/gtest.h>

#include "models/gpt.hpp"
#include "models/text.hpp"
#include "models/training.hpp"
#include "tests/models/single_device.hpp"

namespace ringside {
namespace {

const DataSource source{.text = builtin_text(), .sequence = 8, .context = 1};

std::vector<float> wide(const Tensor& tensor) {
  std::vector<float> values;
  for (const Bf16 x : tensor.as<Bf16>()) {
    values.push_back(static_cast<float>(x));
  }
  return values;
}

float rounded(float x) {
  return static_cast<float>(Bf16(x));
}

// The same numbers in a model of each type.
struct Pair {
  explicit Pair(bool tied = false)
      : config{.layers = 2, .hidden = 8, .ffn = 8, .tied = tied, .dtype = DType::f32} {
    f32 = make_gpt(d32.device, config, 3);
    config.dtype = DType::bf16;
    bf16 = make_gpt(d16.device, config, 3);
    for (std::size_t i = 0; i < in16().size(); ++i) {
      std::ranges::copy(wide(in16()[i]->value), in32()[i]->value.as<float>().begin());
    }
  }

  std::vector<Parameter*> in32() const { return flatten(f32->layers()); }

  std::vector<Parameter*> in16() const { return flatten(bf16->layers()); }

  GptConfig config;
  SingleDevice d32;
  SingleDevice d16;
  std::unique_ptr<Model> f32;
  std::unique_ptr<Model> bf16;
};

TEST(HalfLayer, ComputesInF32AndRoundsTheGradientOnce) {
  const Pair models;
  const Batch batch = make_batch(source, 1, 0, 2);
  EXPECT_EQ(models.bf16->forward_backward(batch), models.f32->forward_backward(batch));
  for (std::size_t i = 0; i < models.in16().size(); ++i) {
    auto expected = copy_of<float>(models.in32()[i]->grad);
    std::ranges::transform(expected, expected.begin(), rounded);
    EXPECT_EQ(wide(models.in16()[i]->grad), expected) << models.in16()[i]->name;
    EXPECT_EQ(models.in16()[i]->name, models.in32()[i]->name);
  }
}

TEST(HalfLayer, AccumulatesMicroBatchesInBf16) {
  const Pair models;
  std::vector<std::vector<float>> sums(models.in16().size());
  for (const std::uint64_t sample : {0U, 1U}) {
    const Batch batch = make_batch(source, 1, sample, 1);
    zero_gradients(models.in32());
    models.f32->forward_backward(batch);
    models.bf16->forward_backward(batch);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const auto part = copy_of<float>(models.in32()[i]->grad);
      sums[i].resize(part.size());
      std::ranges::transform(sums[i], part, sums[i].begin(),
                             [](float a, float b) { return rounded(a + b); });
    }
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    EXPECT_EQ(wide(models.in16()[i]->grad), sums[i]) << models.in16()[i]->name;
  }
}

TEST(HalfLayer, ATiedHeadUsesTheEmbeddingsTable) {
  const Pair models(true);
  const Batch batch = make_batch(source, 1, 0, 2);
  EXPECT_EQ(models.bf16->forward_backward(batch), models.f32->forward_backward(batch));
  EXPECT_TRUE(models.bf16->layers().back().empty());
  EXPECT_EQ(models.bf16->layer(models.bf16->layer_count() - 1).borrowed(),
            models.bf16->layers().front());
}

std::int64_t elements(const std::vector<Parameter*>& parameters) {
  std::int64_t count = 0;
  for (const Parameter* p : parameters) {
    count += static_cast<std::int64_t>(p->value.count());
  }
  return count;
}

// 2 + 2 + 4 + 4 + 4 bytes a parameter, and f32 copies of one layer at a time.
TEST(HalfLayer, IsInTheLedgerByCategory) {
  const Pair models;
  auto& d = const_cast<SingleDevice&>(models.d16);
  const std::int64_t count = elements(models.in16());
  const auto optimizer = make_optimizer({.kind = "adamw"}, d.memory, models.in16());
  EXPECT_EQ(d.held(Category::weights), 2 * count);
  EXPECT_EQ(d.held(Category::gradients), 2 * count);
  EXPECT_EQ(d.held(Category::master_weights), 4 * count);
  EXPECT_EQ(d.held(Category::optimizer_state), 8 * count);
  models.bf16->forward_backward(make_batch(source, 1, 0, 2));
  optimizer->step();
  EXPECT_EQ(d.held(Category::buffers), 0);
  std::int64_t largest = 0;
  for (const auto& layer : models.bf16->layers()) {
    largest = std::max(largest, elements(layer));
  }
  EXPECT_EQ(d.peak(Category::buffers), (4 + 4) * largest);  // weights and gradients
}

// ---- Case G8: updates too small for bf16 --------------------------------------------------------

struct Descended {
  float weight = 0;  // as stored
  std::int64_t master_bytes = 0;
};

// 100 updates of -6e-4, from 1.
Descended descend(bool masters) {
  SingleDevice d;
  Parameter p{"p", Tensor(d.memory, DType::bf16, {1}, Category::weights, "p"),
              Tensor(d.memory, DType::bf16, {1}, Category::gradients, "p.grad")};
  p.value.as<Bf16>()[0] = Bf16(1.0F);
  p.grad.as<Bf16>()[0] = Bf16(1.0F);
  const auto optimizer = make_optimizer(
      {.kind = "sgd", .lr = 6e-4, .momentum = 0, .masters = masters}, d.memory, {&p});
  for (int step = 0; step < 100; ++step) {
    optimizer->step();
  }
  return {static_cast<float>(p.value.as<Bf16>()[0]), d.held(Category::master_weights)};
}

TEST(MastersCaseG8, KeepWhatBf16CannotHold) {
  const auto with = descend(true);
  EXPECT_EQ(with.weight, 0.94140625F);  // the rounding of 0.94
  EXPECT_EQ(with.master_bytes, 4);
  const auto without = descend(false);
  EXPECT_EQ(without.weight, 1);
  EXPECT_EQ(without.master_bytes, 0);
}

TEST(MastersCaseG8, TheirAbsenceIsWarnedOf) {
  EXPECT_NE(precision_warning({.masters = false}, DType::bf16), "");
  EXPECT_EQ(precision_warning({.masters = true}, DType::bf16), "");
  EXPECT_EQ(precision_warning({.masters = false}, DType::f32), "");
}

TEST(HalfLayer, TrainsAlone) {
  for (const bool masters : {true, false}) {
    TrainingPlan plan{
        .model = GptConfig{.layers = 1, .hidden = 16, .ffn = 16, .dtype = DType::bf16},
        .optimizer = {.kind = "adamw", .lr = 0.01, .masters = masters},
        .data = source,
        .steps = 30,
        .batch = 8,
        .clip = 1,
        .loss_scaling = LossScaling{.initial = 1024}};
    const auto records = train_alone(plan);
    EXPECT_LT(records.back().loss, records.front().loss - 0.5) << masters;
  }
}

TEST(HalfLayer, StandsForTheLayersOfAnMlpToo) {
  TrainingPlan plan{.model = MlpConfig{.hidden = 8, .dtype = DType::bf16},
                    .optimizer = {.kind = "sgd"},
                    .data = {.text = builtin_text()},
                    .steps = 2,
                    .batch = 4};
  const auto records = train_alone(plan);
  EXPECT_GT(records.back().loss, 0);
  EXPECT_NE(records[0].parameters, records[1].parameters);
}

}  // namespace
}  // namespace ringside
