// Checkpoints in one process: what is stored, what is refused, and that a training goes on.
#include "models/checkpoint.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <limits>

#include "models/resume.hpp"
#include "models/safetensors.hpp"
#include "models/text.hpp"
#include "runtime/errors.hpp"
#include "tests/models/single_device.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ringside {
namespace {

TrainingPlan plan(DType dtype = DType::f32) {
  return {
      .model =
          GptConfig{.layers = 1, .hidden = 8, .heads = 2, .kv_heads = 1, .ffn = 6, .dtype = dtype},
      .optimizer = {.kind = "adamw", .lr = 1e-2},
      .data = {.text = builtin_text(), .seed = 3, .sequence = 8, .context = 1},
      .steps = 2,
      .batch = 2,
      .loss_scaling = LossScaling{.growth_interval = 3}};
}

// One process that trains; `see` looks at it after each step.
struct Alone {
  explicit Alone(const TrainingPlan& p)
      : model(make_model(d.device, p.model, p.data.seed)),
        parameters(flatten(model->layers())),
        optimizer(make_optimizer(p.optimizer, d.memory, parameters)) {}

  Checkpoint train(const TrainingPlan& p) {
    if (p.start) {
      load_whole(*p.start, parameters, *optimizer);
    }
    LossScaleState scale;
    ringside::train(
        p, parameters, *optimizer,
        [&](int step) {
          zero_gradients(parameters);
          const Batch batch = make_batch(p.data, static_cast<std::uint64_t>(step), 0, p.batch);
          return StepSum{model->forward_backward(batch), batch.tokens()};
        },
        [&](int, const StepRecord& record) { scale = record.next_scale; },
        {.scale_loss = [&](double by) { model->scale_loss(by); }});
    return {.step = p.first_step() + p.steps,
            .training = identity_of(p),
            .loss_scale = scale,
            .weights = whole_state(weight_parts(parameters)),
            .optimizer = whole_state(optimizer_parts(*optimizer))};
  }

  SingleDevice d;
  std::unique_ptr<Model> model;
  std::vector<Parameter*> parameters;
  std::unique_ptr<Optimizer> optimizer;
};

Checkpoint trained(const TrainingPlan& p) {
  return Alone(p).train(p);
}

void expect_equal(const Checkpoint& a, const Checkpoint& b) {
  EXPECT_EQ(a.step, b.step);
  EXPECT_EQ(a.training, b.training);
  EXPECT_EQ(a.loss_scale.value, b.loss_scale.value);
  EXPECT_EQ(a.loss_scale.good_steps, b.loss_scale.good_steps);
  EXPECT_EQ(a.weights, b.weights);
  EXPECT_EQ(a.optimizer, b.optimizer);
}

TEST(Checkpoint, KeepsEveryBit) {
  const TemporaryFolder folder;
  const Checkpoint stored = trained(plan());
  EXPECT_EQ(save_checkpoint(folder / "new/x", stored), folder / "new/x/step-2");
  expect_equal(load_checkpoint(folder / "new/x"), stored);
  expect_equal(load_checkpoint(folder / "new/x/step-2"), stored);
  save_checkpoint(folder / "new/x", stored);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / "new/x"), {}), 1)
      << "one of the same step is replaced, and nothing is left over";
}

TEST(Checkpoint, TheLatestOfAFolderIsTaken) {
  const TemporaryFolder folder;
  Checkpoint checkpoint = trained(plan());
  for (const std::int64_t step : {9, 10, 2}) {
    checkpoint.step = step;
    save_checkpoint(folder.path(), checkpoint);
  }
  std::filesystem::create_directory(folder / "step-11.77.tmp");
  EXPECT_EQ(load_checkpoint(folder.path()).step, 10);
}

// bf16 has masters besides; the loss scale grows in the third step.
TEST(Checkpoint, ATrainingGoesOnBitForBit) {
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16}) {
    SCOPED_TRACE(name_of(dtype));
    const TemporaryFolder folder;
    save_checkpoint(folder.path(), trained(plan(dtype)));
    TrainingPlan more = plan(dtype);
    more.start = std::make_shared<Checkpoint>(load_checkpoint(folder.path()));
    TrainingPlan whole = plan(dtype);
    whole.steps = 4;
    const Checkpoint ended = trained(more);
    expect_equal(ended, trained(whole));
    EXPECT_EQ(ended.loss_scale.value, 2 * 65'536);
    EXPECT_EQ(ended.optimizer.contains("embed.weight.master"), dtype == DType::bf16);
  }
}

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const BadUse& refused) {
    return refused.what();
  }
  return "";
}

void expect_refused(const std::function<void()>& call, const std::string& why) {
  const std::string said = refusal(call);
  EXPECT_NE(said.find(why), std::string::npos) << said;
}

TEST(Checkpoint, WhatIsMissingOrDamagedIsRefused) {
  const TemporaryFolder folder;
  const auto load = [&] { load_checkpoint(folder.path()); };
  expect_refused(load, "there is no checkpoint");
  Checkpoint checkpoint = trained(plan());
  const auto place = save_checkpoint(folder.path(), checkpoint);
  EXPECT_EQ(refusal(load), "") << "the control";
  checkpoint.step = 3;
  const auto other = save_checkpoint(folder / "other", checkpoint);
  std::filesystem::copy_file(other / "optimizer.safetensors", place / "optimizer.safetensors",
                             std::filesystem::copy_options::overwrite_existing);
  expect_refused(load, "of different saves");
  std::filesystem::resize_file(place / "model.safetensors", 100);
  expect_refused(load, "model.safetensors");
  std::ofstream(place / "trainer_state.json") << R"({"step": 2})";
  expect_refused(load, "trainer_state.json: is damaged");
  std::filesystem::remove(place / "trainer_state.json");
  expect_refused(load, "trainer_state.json");
  std::ofstream(folder / "file") << "x";
  expect_refused([&] { save_checkpoint(folder / "file", checkpoint); }, "cannot write");
}

TEST(Checkpoint, NonsenseInItsNumbersIsRefused) {
  const TemporaryFolder folder;
  Checkpoint checkpoint = trained(plan());
  const auto place = save_checkpoint(folder.path(), checkpoint);
  const auto with = [&](const std::string& step, const std::string& scale,
                        const std::string& good) {
    std::ofstream(place / "trainer_state.json")
        << R"({"step": )" + step + R"(, "training": {}, "loss_scale": {"value": )" + scale +
               R"(, "good_steps": )" + good + "}}";
    return [&] { load_checkpoint(folder.path()); };
  };
  EXPECT_EQ(refusal(with("2", "0.5", "0")), "") << "the control";
  const std::string whole = ": must be a whole number from 0 to 2000000000";
  expect_refused(with("2.9", "1", "0"), "trainer_state.json: step is 2.9" + whole);
  expect_refused(with("-1", "1", "0"), "step is -1" + whole);
  expect_refused(with("18446744073709551615", "1", "0"), "step is 18446744073709551615" + whole);
  expect_refused(with("\"2\"", "1", "0"), "step is \"2\"" + whole);
  expect_refused(with("2", "1", "-1"), "good_steps is -1" + whole);
  for (const std::string scale : {"0", "-5", "null", "\"1\""}) {
    expect_refused(with("2", scale, "0"),
                   "loss_scale.value is " + scale + ": must be a number above 0");
  }
  expect_refused(with("2", "1e999", "0"), "trainer_state.json: is no JSON");
  expect_refused(with("2", std::string(100'000, '['), "0"), "levels deep");
}

TEST(Checkpoint, AnOptimizersNonsenseIsRefused) {
  const auto load = [](const std::function<void(NamedTensors&)>& change) {
    return [=] {
      const TemporaryFolder folder;
      Checkpoint checkpoint = trained(plan());
      change(checkpoint.optimizer);
      save_checkpoint(folder.path(), checkpoint);
      load_checkpoint(folder.path());
    };
  };
  const auto put = [](HostTensor& tensor, auto value) {
    std::memcpy(tensor.bytes.data(), &value, sizeof value);
  };
  EXPECT_EQ(refusal(load([](NamedTensors&) {})), "") << "the control";
  for (const std::int64_t updates :
       {std::int64_t{-5}, std::int64_t{3}, std::numeric_limits<std::int64_t>::max()}) {
    expect_refused(load([&](NamedTensors& o) { put(o.at("embed.weight.step"), updates); }),
                   "\"embed.weight.step\" says " + std::to_string(updates) +
                       " updates, but 2 steps were taken");
  }
  expect_refused(load([&](NamedTensors& o) { put(o.at("embed.weight.exp_avg_sq"), -1.0F); }),
                 "\"embed.weight.exp_avg_sq\" averages squares, but element 0 is -1");
}

TEST(Checkpoint, AFileOfTensorsIsReadAfterTheTrainingIsAcceptedAndUpToItsSize) {
  const TemporaryFolder folder;
  const auto place = save_checkpoint(folder.path(), trained(plan()));
  std::filesystem::resize_file(place / "model.safetensors", 20'000'000'000);
  expect_refused(
      [&] {
        load_checkpoint(folder.path(), [](const Checkpoint& c) {
          EXPECT_EQ(c.step, 2);
          return 1'000'000U;
        });
      },
      "20000000000 bytes are too many for a safetensors file (at most 1000000)");
  expect_refused([&] { load_checkpoint(folder.path()); }, "its tensors end at byte");
}

TEST(Checkpoint, TensorsOfAnotherModelAreRefused) {
  const Checkpoint stored = trained(plan());
  const auto load = [&](const std::function<void(Checkpoint&)>& change) {
    Checkpoint changed = stored;
    changed.folder = "x";
    change(changed);
    return [=] {
      Alone alone(plan());
      load_whole(changed, alone.parameters, *alone.optimizer);
    };
  };
  EXPECT_EQ(refusal(load([](Checkpoint&) {})), "") << "the control";
  expect_refused(load([](Checkpoint& c) { c.weights.erase("embed.weight"); }),
                 "x/model.safetensors: there is no tensor \"embed.weight\" of f32 [256, 8]");
  expect_refused(load([](Checkpoint& c) { c.weights["bias"] = {DType::f32, {}, {}}; }), "\"bias\"");
  expect_refused(load([](Checkpoint& c) {
                   c.weights.at("embed.weight").shape = {8, 256};
                 }),
                 "is f32 [8, 256], but this model needs f32 [256, 8]");
  expect_refused(load([](Checkpoint& c) { c.optimizer.erase("embed.weight.step"); }),
                 "x/optimizer.safetensors: there is no tensor \"embed.weight.step\" of i64 []");
  expect_refused(load([](Checkpoint& c) { c.optimizer["embed.weight.velocity"] = {}; }),
                 "velocity");
}

TEST(Checkpoint, AnotherTrainingIsRefusedWithItsNumbers) {
  const Checkpoint stored = trained(plan());
  const auto resume = [&](const std::function<void(TrainingPlan&)>& change) {
    return [&stored, change] {
      TrainingPlan other = plan();
      change(other);
      require_same_training(stored, other);
    };
  };
  EXPECT_EQ(refusal(resume([](TrainingPlan& p) { p.steps = 7; })), "") << "the control";
  expect_refused(resume([](TrainingPlan& p) { p.data.seed = 4; }),
                 "train.seed = 3, but here it is 4");
  expect_refused(resume([](TrainingPlan& p) { p.batch = 4; }), "train.batch = 2, but here it is 4");
  expect_refused(resume([](TrainingPlan& p) { std::get<GptConfig>(p.model).heads = 1; }),
                 "model.head_dim = 4, but here it is 8");
  expect_refused(resume([](TrainingPlan& p) { p.data.text = "abc"; }), "3 bytes");
  expect_refused(resume([](TrainingPlan& p) { p.optimizer.kind = "sgd"; }),
                 "adamw, but here it is sgd");
  expect_refused(resume([](TrainingPlan& p) { p.model = MlpConfig{}; }),
                 "model.kind = gpt, but here it is mlp");
}

}  // namespace
}  // namespace ringside
