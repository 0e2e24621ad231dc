// The same models in meta memory: what they hold, charge and return, without data.
#include <gtest/gtest.h>

#include "models/model_config.hpp"
#include "models/text.hpp"
#include "models/training.hpp"
#include "tests/models/single_device.hpp"

namespace ringside {
namespace {

const DataSource source{.text = builtin_text(), .sequence = 12, .context = 1};

struct Seen {
  std::vector<std::pair<std::string, std::int64_t>> charges{};
  std::array<std::int64_t, category_count> current{};
  std::array<std::int64_t, category_count> peak{};
  std::int64_t steps = 0;
};

// Two training steps in memory of this backing.
Seen train_in(Backing backing, const ModelConfig& config, const DataSource& data) {
  SingleDevice d;  // its clock
  DeviceMemory memory(std::size_t{64} << 20, backing);
  const auto model = make_model({memory, d.clock}, config, 1);
  const auto parameters = flatten(model->layers());
  const auto optimizer = make_optimizer({.kind = "adamw"}, memory, parameters);
  const TrainingPlan plan{
      .model = config, .optimizer = {.kind = "adamw"}, .data = data, .steps = 2, .clip = 1};
  train(
      plan, parameters, *optimizer,
      [&](int step) {
        zero_gradients(parameters);
        const Batch batch = make_batch(data, static_cast<std::uint64_t>(step), 0, 3);
        return StepSum{model->forward_backward(batch), batch.tokens()};
      },
      [](int, const StepRecord&) {});
  return {d.charges, memory.ledger().current, memory.ledger().peak, optimizer->steps()};
}

void expect_the_same(const ModelConfig& config, const DataSource& data) {
  const Seen real = train_in(Backing::real, config, data);
  const Seen meta = train_in(Backing::meta, config, data);
  EXPECT_EQ(meta.charges, real.charges);
  EXPECT_EQ(meta.current, real.current);
  EXPECT_EQ(meta.peak, real.peak);
  EXPECT_EQ(meta.steps, 2);
  EXPECT_FALSE(real.charges.empty());
}

TEST(MetaGpt, HoldsAndChargesWhatTheRealOneDoes) {
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16}) {
    for (const bool tied : {false, true}) {
      for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
        expect_the_same(GptConfig{.tied = tied, .dtype = dtype, .recompute = recompute}, source);
      }
    }
  }
}

TEST(MetaMlp, HoldsAndChargesWhatTheRealOneDoes) {
  DataSource data = source;
  data.context = 8;
  expect_the_same(MlpConfig{}, data);
}

// Gigabytes of weights and gradients, in a megabyte.
TEST(MetaGpt, IsAsLargeAsItLikes) {
  SingleDevice d;
  DeviceMemory memory(std::size_t{1} << 20, Backing::meta);
  const GptConfig config{
      .layers = 40, .hidden = 5120, .heads = 40, .kv_heads = 8, .ffn = 17'408, .dtype = DType::f32};
  const auto model = make_gpt({memory, d.clock}, config, 1, {.cut = {.rank = 3, .ranks = 8}});
  model->forward_backward(make_batch(source, 1, 0, 1));
  std::int64_t elements = 0;
  for (const Parameter* p : flatten(model->layers())) {
    elements += static_cast<std::int64_t>(p->value.count());
  }
  // q and o, k and v, gate, up and down over 8 ranks; norms whole; the tables over 8.
  EXPECT_EQ(elements, 40 * (2 * 5120 * 640 + 2 * 5120 * 128 + 3 * 5120 * 2176 + 2 * 5120) + 5120 +
                          2 * 32 * 5120);
  EXPECT_EQ(memory.ledger().current[0], 4 * elements);
}

}  // namespace
}  // namespace ringside
