// Data parallelism against one process, on uneven batches, micro-batches and bucket orders.
#include "parallel/data_parallel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "models/text.hpp"
#include "parallel/data_parallel_step.hpp"
#include "parallel/deviation.hpp"
#include "runtime/errors.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {
namespace {

TrainingPlan small_plan(std::uint64_t batch, DType dtype = DType::f32) {
  return {.model = {.context = 4, .embedding = 4, .hidden = 12, .layers = 2, .dtype = dtype},
          .optimizer = {.kind = "sgd", .lr = 0.1, .momentum = 0.9},
          .data = {.text = builtin_text(), .seed = 3, .sequence = 8, .context = 4},
          .steps = 3,
          .batch = batch};
}

struct Seen {
  Deviation gradients;
  double norm = 0;
  double loss = 0;
};

// The last step of a job, as rank 0 saw it beside the reference.
Seen train_on(int ranks, const TrainingPlan& plan, DataParallelOptions options, int microbatches,
              const std::vector<StepRecord>& truth, Ranks as = Ranks::processes) {
  JobOptions job{.as = as, .region_bytes = memory_estimate(plan, plan.batch)};
  const auto seen = run_ranks_tested(ranks, job, [&](Rank& rank) {
    const auto model = make_mlp({rank.memory(), rank.clock()}, plan.model,
                                plan.data.seed + static_cast<std::uint64_t>(rank.id()));
    const auto parameters = flatten(model->layers());
    DataParallel dp(rank.world(), rank.memory(), model->layers(), options);
    const auto optimizer = make_optimizer(plan.optimizer, rank.memory(), parameters);
    dp.broadcast_weights();
    DataParallelStep step(rank.world(), dp, *model, plan, microbatches);
    Seen last;
    train(plan, parameters, *optimizer, std::ref(step), [&](int s, const StepRecord& record) {
      const auto& reference = truth[static_cast<std::size_t>(s)].gradients;
      last = {deviation(reference, record.gradients, plan.model.dtype), record.gradient_norm,
              record.loss};
    });
    return last;
  });
  return seen.front();
}

TEST(DataParallel, EqualsOneProcessInThreadsToo) {
  const auto plan = small_plan(16, DType::f64);
  const auto truth = train_alone(plan);
  const auto seen = train_on(4, plan, {.bucket = Bytes{512}}, 1, truth, Ranks::threads);
  EXPECT_LT(seen.gradients.absolute, 1e-12);
  EXPECT_GT(truth.back().gradient_norm, 1e-3);
}

TEST(DataParallel, AFaultIsFarOutsideTheGate) {
  const auto plan = small_plan(16, DType::f64);
  const auto truth = train_alone(plan);
  for (const Fault fault : {Fault::sum_not_mean, Fault::last_bucket_dropped,
                            Fault::contribution_lost, Fault::weights_not_broadcast}) {
    const auto seen = train_on(4, plan, {.bucket = Bytes{512}, .fault = fault}, 1, truth);
    EXPECT_GT(seen.gradients.absolute, 1e-6) << static_cast<int>(fault);
  }
}

TEST(CaseF1, TokensAreCountedOnceOverUnevenMicrobatches) {
  DeviceMemory memory(1 << 20);
  Parameter p{.name = "p",
              .value = Tensor(memory, DType::f64, {1}, Category::weights, "p"),
              .grad = Tensor(memory, DType::f64, {1}, Category::gradients, "p.grad")};
  auto plan = small_plan(1, DType::f64);
  plan.steps = 1;
  const auto optimizer = make_optimizer(plan.optimizer, memory, {&p});
  double loss = 0;
  // Losses 2 of one token and 1, 1, 1 of three: the mean over four tokens.
  train(
      plan, {&p}, *optimizer,
      [](int) {
        return StepSum{2.0 + 1 + 1 + 1, 1 + 3};
      },
      [&](int, const StepRecord& record) { loss = record.loss; });
  EXPECT_DOUBLE_EQ(loss, 1.25);
}

TEST(CaseF1, MicrobatchesOf5And0And2And1TokensGiveTheGradientOfAll) {
  const auto plan = small_plan(1, DType::f64);
  const auto gradients = [&](const std::vector<std::size_t>& counts) {
    DeviceMemory memory(8 << 20);
    ComputeClock clock;
    const auto model = make_mlp({memory, clock}, plan.model, 1);
    std::size_t first = 0;
    double loss = 0;
    for (const std::size_t count : counts) {
      Batch batch{.context = 4};
      for (std::size_t t = first; t < first + count; ++t) {
        for (std::size_t k = 0; k < 4; ++k) {
          batch.contexts.push_back(static_cast<std::uint8_t>(7 * t + k));
        }
        batch.targets.push_back(static_cast<std::uint8_t>(11 * t));
      }
      first += count;
      loss += model->forward_backward(batch, [](std::size_t) {});
    }
    TensorValues values{{loss}};
    for (const Parameter* p : flatten(model->layers())) {
      const auto g = p->grad.as<double>();
      values.emplace_back(g.begin(), g.end());
    }
    return values;
  };
  EXPECT_LT(deviation(gradients({8}), gradients({5, 0, 2, 1}), DType::f64).absolute, 1e-12);
  EXPECT_GT(deviation(gradients({8}), gradients({5, 0, 2}), DType::f64).absolute, 1e-6);
}

TEST(CaseF1, AnEmptyMicrobatchAddsNothingAndTheShortWindowIsApplied) {
  const auto plan = small_plan(3);  // 3 samples over 2 ranks x 4 micro-batches: most are empty
  const auto seen = train_on(2, plan, {}, 4, train_alone(plan));
  EXPECT_LT(seen.gradients.absolute, 1e-6);
}

TEST(CaseF2, TheGradientNormDoesNotDependOnTheNumberOfMicrobatches) {
  const auto plan = small_plan(32);
  const auto truth = train_alone(plan);
  for (const int microbatches : {1, 2, 4, 8}) {
    const auto seen = train_on(2, plan, {}, microbatches, truth);
    EXPECT_LT(relative(truth.back().gradient_norm, seen.norm), 1e-6) << microbatches;
  }
}

TEST(CaseF2, ReducingEveryMicrobatchGivesTheSameGradient) {
  const auto plan = small_plan(32);
  const auto truth = train_alone(plan);
  for (const bool overlap : {true, false}) {
    const auto seen =
        train_on(4, plan, {.bucket = Bytes{512}, .overlap = overlap, .sync_every_microbatch = true},
                 4, truth);
    EXPECT_LT(seen.gradients.absolute, 1e-6) << overlap;
  }
}

TEST(CaseF3, ABatchOf10Over3RanksGivesTheMeanOver10) {
  const auto plan = small_plan(10);
  const auto truth = train_alone(plan);
  const auto seen = train_on(3, plan, {}, 1, truth);
  EXPECT_LT(seen.gradients.absolute, 1e-6);
  EXPECT_LT(relative(truth.back().loss, seen.loss), 1e-6);
}

TEST(CaseF4, ARankWithoutSamplesTakesPartWithNothing) {
  const auto plan = small_plan(3);
  const auto seen = train_on(4, plan, {}, 1, train_alone(plan));
  EXPECT_LT(seen.gradients.absolute, 1e-6);
}

// Five layers of one tensor each; the gradient of tensor t on rank r is 100 t + r.
TEST(CaseF6, BucketsLeaveInOneOrderInWhateverOrderTheyBecomeReady) {
  constexpr int ranks = 4;
  constexpr std::size_t layers = 5;
  JobOptions job = small_job();
  job.disturb = 1;
  run_ranks_tested(ranks, job, [](Rank& rank) {
    std::vector<Parameter> parameters(layers);
    std::vector<std::vector<Parameter*>> by_layer;
    for (std::size_t t = 0; t < layers; ++t) {
      const std::string name = "p" + std::to_string(t);
      parameters[t].name = name;
      parameters[t].value = Tensor(rank.memory(), DType::f32, {8}, Category::weights, name);
      by_layer.push_back({&parameters[t]});
    }
    DataParallel dp(rank.world(), rank.memory(), by_layer, {});
    std::mt19937 random(static_cast<unsigned>(rank.id()));
    std::vector<std::size_t> order{0, 1, 2, 3, 4};
    for (int trial = 0; trial < 200; ++trial) {
      dp.begin_step();
      std::shuffle(order.begin(), order.end(), random);
      for (const std::size_t t : order) {
        for (float& g : parameters[t].grad.as<float>()) {
          g = static_cast<float>(100 * t) + static_cast<float>(rank.id());
        }
      }
      for (const std::size_t t : order) {
        dp.layer_done(t);
      }
      dp.finish();
      for (std::size_t t = 0; t < layers; ++t) {
        ASSERT_EQ(parameters[t].grad.as<float>()[3], static_cast<float>(400 * t + 6)) << trial;
      }
    }
  });
}

TEST(DataParallel, AGradientInFlightMayNotBeTouched) {
  run_ranks_tested(2, small_job(), [](Rank& rank) {
    Parameter p{.name = "p",
                .value = Tensor(rank.memory(), DType::f32, {8}, Category::weights, "p"),
                .grad = {}};
    DataParallel dp(rank.world(), rank.memory(), {{&p}}, {});
    dp.begin_step();
    dp.layer_done(0);
    EXPECT_THROW(p.grad.as<float>(), BadUse);
    dp.finish();
    EXPECT_NO_THROW(p.grad.as<float>());
  });
}

}  // namespace
}  // namespace ringside
