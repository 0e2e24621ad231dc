// ZeRO beside data parallelism with the same algorithm and buckets: bit for bit; and its faults.
#include "parallel/zero.hpp"

#include <gtest/gtest.h>

#include "runtime/errors.hpp"
#include "tests/parallel/zero_training.hpp"

namespace ringside {
namespace {

// Stage 3 has its buckets by layer, and so has what it is compared with.
BucketRules buckets_for(int stage, std::size_t alignment = 1) {
  return {.limit = Bytes{1536},
          .by = stage == 3 ? BucketBy::layer : BucketBy::size,
          .alignment = alignment};
}

struct Shape {
  const char* name;
  bool gpt;
  bool tied;
};

class ZeroBits : public testing::TestWithParam<std::tuple<int, Shape>> {};

TrainingPlan plan_for(const Shape& shape, const std::string& optimizer) {
  TrainingPlan plan = shape.gpt ? small_gpt_plan(9, shape.tied) : small_plan(9);
  plan.optimizer.kind = optimizer;
  if (optimizer == "adamw") {
    plan.optimizer.lr = 1e-3;
    plan.steps = 10;
  }
  return plan;
}

JobOptions job_for(const TrainingPlan& plan) {
  return {.region_bytes = 4 * memory_estimate(plan, plan.batch)};
}

TEST_P(ZeroBits, AreThoseOfDataParallelismInEveryStage) {
  const auto& [ranks, shape] = GetParam();
  for (const std::string optimizer : {"sgd", "adamw"}) {
    const auto plan = plan_for(shape, optimizer);
    run_ranks_tested(ranks, job_for(plan), [&](Rank& rank) {
      const auto by_size = dp_records(rank, plan, {.buckets = buckets_for(1)}, 1);
      const auto by_layer = dp_records(rank, plan, {.buckets = buckets_for(3)}, 1);
      for (const int stage : {1, 2, 3}) {
        const auto seen = zero_beside(rank, plan, {.stage = stage, .buckets = buckets_for(stage)},
                                      1, stage == 3 ? by_layer : by_size);
        EXPECT_TRUE(seen.gradient_bits) << optimizer << " stage " << stage;
        EXPECT_TRUE(seen.parameter_bits) << optimizer << " stage " << stage;
        EXPECT_LT(seen.norm, 1e-6) << optimizer << " stage " << stage;
        EXPECT_EQ(seen.loss, 0) << optimizer << " stage " << stage;
      }
    });
  }
}

TEST_P(ZeroBits, WithAccumulationAreThoseOfNoSyncOrOfEveryMicrobatch) {
  const auto& [ranks, shape] = GetParam();
  for (const std::string optimizer : {"sgd", "adamw"}) {
    auto plan = plan_for(shape, optimizer);
    plan.steps = 3;
    for (const int microbatches : {2, 4}) {
      SCOPED_TRACE(optimizer + ", " + std::to_string(microbatches) + " micro-batches");
      run_ranks_tested(ranks, job_for(plan), [&](Rank& rank) {
        for (const int stage : {1, 2, 3}) {
          const ZeroOptions options{.stage = stage, .buckets = buckets_for(stage)};
          const auto no_sync = dp_records(rank, plan, {.buckets = options.buckets}, microbatches);
          const auto every =
              dp_records(rank, plan, {.buckets = options.buckets, .sync_every_microbatch = true},
                         microbatches);
          const auto seen =
              zero_beside(rank, plan, options, microbatches, stage == 1 ? no_sync : every);
          EXPECT_TRUE(seen.gradient_bits) << "stage " << stage;
          EXPECT_TRUE(seen.parameter_bits) << "stage " << stage;
          if (optimizer == "sgd") {  // Adam enlarges rounding: exactness.md
            const auto near = zero_beside(rank, plan, options, microbatches, no_sync);
            EXPECT_LT(near.gradient, 1e-6) << "stage " << stage;
            EXPECT_LT(near.parameter, 1e-6) << "stage " << stage;
          }
        }
      });
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, ZeroBits,
                         testing::Combine(testing::Values(2, 3, 4, 8),
                                          testing::Values(Shape{"mlp", false, false},
                                                          Shape{"gpt", true, false},
                                                          Shape{"tied", true, true})),
                         [](const auto& made) {
                           return std::to_string(std::get<0>(made.param)) + "ranks_" +
                                  std::get<1>(made.param).name;
                         });

TEST(Zero, OverlapPrefetchAndAlignmentChangeNoBit) {
  const auto plan = plan_for({"tied", true, true}, "adamw");
  run_ranks_tested(3, job_for(plan), [&](Rank& rank) {
    for (const int stage : {1, 2, 3}) {
      const auto truth = dp_records(rank, plan, {.buckets = buckets_for(stage)}, 1);
      const auto seen = zero_beside(
          rank, plan,
          {.stage = stage, .buckets = buckets_for(stage), .overlap = false, .prefetch = false}, 1,
          truth);
      EXPECT_TRUE(seen.gradient_bits && seen.parameter_bits) << stage;
    }
    const auto wider = dp_records(rank, plan, {.buckets = buckets_for(3, 96)}, 1);
    const auto seen =
        zero_beside(rank, plan, {.stage = 3, .buckets = buckets_for(3, 96)}, 1, wider);
    EXPECT_TRUE(seen.gradient_bits && seen.parameter_bits);
  });
}

TEST(Zero, EqualsOneProcessInThreadsToo) {
  const auto plan = small_gpt_plan(7, true, DType::f64);
  const auto truth = train_alone(plan);
  JobOptions job = job_for(plan);
  job.as = Ranks::threads;
  run_ranks_tested(3, job, [&](Rank& rank) {
    for (const int stage : {1, 2, 3}) {
      const auto seen =
          zero_beside(rank, plan, {.stage = stage, .buckets = buckets_for(stage)}, 2, truth);
      EXPECT_LT(seen.gradient, 1e-12) << stage;
      EXPECT_LT(seen.parameter, 1e-12) << stage;
      EXPECT_LT(seen.norm, 1e-12) << stage;
    }
  });
}

class ZeroClipped : public testing::TestWithParam<int> {};

TEST_P(ZeroClipped, IsDataParallelismClippedByTheGates) {
  for (const std::string optimizer : {"sgd", "adamw"}) {
    auto plan = plan_for({"gpt", true, false}, optimizer);
    plan.steps = 3;
    plan.clip = 0.5;
    run_ranks_tested(GetParam(), job_for(plan), [&](Rank& rank) {
      const auto truth = dp_records(rank, plan, {.buckets = buckets_for(1)}, 1);
      EXPECT_LT(truth.front().clip_factor, 1);
      for (const int stage : {1, 2, 3}) {
        ZeroOptions options{.stage = stage, .buckets = buckets_for(stage)};
        const auto seen = zero_beside(rank, plan, options, 1, truth);
        EXPECT_LT(seen.gradient, 1e-6) << optimizer << stage;
        EXPECT_LT(seen.parameter, 1e-6) << optimizer << stage;
        EXPECT_LT(seen.norm, 1e-6) << optimizer << stage;
        options.fault = Fault::norm_of_rank;
        const auto faulty = zero_beside(rank, plan, options, 1, truth);
        EXPECT_GT(faulty.parameter, 1e-6) << optimizer << stage << ": the control";
        EXPECT_GT(faulty.norm, 1e-3) << optimizer << stage << ": the control";
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(, ZeroClipped, testing::Values(2, 3, 4, 8),
                         [](const auto& made) { return std::to_string(made.param) + "ranks"; });

// What each fault shows, the worst over the ranks.
ZeroSeen with_fault(Fault fault, int stage) {
  const auto plan = small_gpt_plan(9, false);
  const auto truth = train_alone(plan);
  const auto all = run_ranks_tested(4, job_for(plan), [&](Rank& rank) {
    return zero_beside(
        rank, plan, {.stage = stage, .buckets = buckets_for(stage, 96), .fault = fault}, 1, truth);
  });
  ZeroSeen worst;
  for (const ZeroSeen& seen : all) {
    worst.gradient = std::max(worst.gradient, seen.gradient);
    worst.parameter = std::max(worst.parameter, seen.parameter);
    worst.norm = std::max(worst.norm, seen.norm);
  }
  return worst;
}

TEST(Zero, AFaultIsFarOutsideTheGate) {
  for (const int stage : {1, 2, 3}) {
    const auto sound = with_fault(Fault::none, stage);
    EXPECT_LT(sound.gradient, 1e-6);
    EXPECT_LT(sound.parameter, 1e-6);
    EXPECT_LT(sound.norm, 1e-6);
    for (const Fault fault :
         {Fault::gradient_scaled, Fault::shard_offset_wrong, Fault::weights_not_broadcast}) {
      EXPECT_GT(with_fault(fault, stage).gradient, 1e-5) << static_cast<int>(fault);
    }
    for (const Fault fault : {Fault::norm_of_rank, Fault::padding_in_norm}) {
      EXPECT_GT(with_fault(fault, stage).norm, 1e-3) << static_cast<int>(fault);
      EXPECT_LT(with_fault(fault, stage).gradient, 1e-6) << "nothing else shows it";
    }
    EXPECT_GT(with_fault(Fault::parameters_not_gathered, stage).parameter, 1e-5) << stage;
  }
}

TEST(Zero, AnUnknownStageIsRefused) {
  const auto plan = small_plan(1);
  run_ranks_tested(2, job_for(plan), [&](Rank& rank) {
    const auto model = make_model({rank.memory(), rank.clock()}, plan.model, 1);
    EXPECT_THROW(Zero(rank.world(), rank.memory(), *model, {.stage = 4}), BadUse);
  });
}

}  // namespace
}  // namespace ringside
