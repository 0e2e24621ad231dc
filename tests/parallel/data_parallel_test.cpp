// Data parallelism against one process: faults, micro-batches and bucket orders.
#include "parallel/data_parallel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "runtime/errors.hpp"
#include "tests/parallel/small_training.hpp"

namespace ringside {
namespace {

TEST(DataParallel, EqualsOneProcessInThreadsToo) {
  const auto plan = small_plan(16, DType::f64);
  const auto truth = train_alone(plan);
  const auto seen =
      train_on({.ranks = 4, .options = {.buckets = {.limit = Bytes{512}}}, .as = Ranks::threads},
               plan, truth);
  EXPECT_LT(seen.gradients.absolute, 1e-12);
  EXPECT_GT(truth.back().gradient_norm, 1e-3);
}

TEST(DataParallel, AFaultIsFarOutsideTheGate) {
  const auto plan = small_plan(16, DType::f64);
  const auto truth = train_alone(plan);
  for (const Fault fault : {Fault::sum_not_mean, Fault::last_bucket_dropped,
                            Fault::contribution_lost, Fault::weights_not_broadcast}) {
    const auto seen = train_on(
        {.ranks = 4, .options = {.buckets = {.limit = Bytes{512}}, .fault = fault}}, plan, truth);
    EXPECT_GT(seen.gradients.absolute, 1e-6) << static_cast<int>(fault);
  }
}

TEST(CaseF2, TheGradientNormDoesNotDependOnTheNumberOfMicrobatches) {
  const auto plan = small_plan(32);
  const auto truth = train_alone(plan);
  for (const int microbatches : {1, 2, 4, 8}) {
    const auto seen = train_on({.microbatches = microbatches}, plan, truth);
    EXPECT_LT(relative(truth.back().gradient_norm, seen.norm), 1e-6) << microbatches;
  }
}

TEST(CaseF2, ReducingEveryMicrobatchGivesTheSameGradient) {
  const auto plan = small_plan(32);
  const auto truth = train_alone(plan);
  for (const bool overlap : {true, false}) {
    const auto seen = train_on({.ranks = 4,
                                .options = {.buckets = {.limit = Bytes{512}},
                                            .overlap = overlap,
                                            .sync_every_microbatch = true},
                                .microbatches = 4},
                               plan, truth);
    EXPECT_LT(seen.gradients.absolute, 1e-6) << overlap;
  }
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
