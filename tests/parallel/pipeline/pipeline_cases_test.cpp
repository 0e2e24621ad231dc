// The run halves of cases I1 to I3, I5, I7, I9 and I10: pipelines beside one process that adds
// nothing but the whole batch.
#include <gtest/gtest.h>

#include "models/training.hpp"
#include "parallel/pipeline/generators.hpp"
#include "parallel/pipeline/stage_split.hpp"
#include "parallel/pipeline/timing.hpp"
#include "tests/parallel/training_on_mesh.hpp"

namespace ringside {
namespace {

TrainingPlan plan_of(std::size_t blocks, std::uint64_t batch, DType dtype = DType::f64) {
  return {.model = GptConfig{.layers = blocks,
                             .hidden = 8,
                             .heads = 2,
                             .kv_heads = 1,
                             .ffn = 6,
                             .vocab = 256,
                             .dtype = dtype},
          .optimizer = {.kind = "sgd", .lr = 0.1},
          .data = {.text = builtin_text(), .seed = 3, .sequence = 6, .context = 1},
          .steps = 2,
          .batch = batch};
}

// Of `stages` devices, or of interleaved as many with two chunks each.
OnMesh pipeline_of(std::string_view name, int stages, int microbatches, std::size_t blocks,
                   int dp = 1) {
  const Schedule schedule = make_schedule(
      name,
      {.stages = stages, .microbatches = microbatches, .chunks = name == "interleaved" ? 2 : 1});
  return {.mesh = {.pp = stages, .dp = dp},
          .microbatches = microbatches,
          .pipeline = PipelinePlan{.schedule = schedule,
                                   .split = split_by_number(blocks, schedule.stages, 1, 2)}};
}

void expect_equals_one_process(const OnMesh& on, const TrainingPlan& plan) {
  const auto seen = worst_of(train_on_mesh(on, plan, train_alone(plan)));
  const std::string what = on.pipeline->schedule.name + ", pp " + std::to_string(on.mesh.pp) +
                           ", " + std::to_string(on.microbatches) + " micro-batches";
  EXPECT_LT(seen.gradients, 1e-12) << what;
  EXPECT_LT(seen.parameters, 1e-12) << what;
  EXPECT_LT(seen.loss, 1e-12) << what;
  EXPECT_LT(seen.norm, 1e-12) << what;
}

TEST(CaseI1Run, LayersThatStagesDoNotDivide) {
  expect_equals_one_process(pipeline_of("1f1b", 4, 4, 30), plan_of(30, 4));
}

TEST(CaseI1Run, LargeSixtyOneLayersOnSixteenStages) {
  auto plan = plan_of(61, 4);
  plan.steps = 1;
  expect_equals_one_process(pipeline_of("gpipe", 16, 4, 61), plan);
}

TEST(CaseI2Run, FewerMicroBatchesThanStages) {
  for (const char* name : {"gpipe", "1f1b"}) {
    for (const int microbatches : {1, 2, 3}) {
      expect_equals_one_process(pipeline_of(name, 4, microbatches, 4), plan_of(4, 6));
    }
    expect_equals_one_process(pipeline_of(name, 8, 1, 8), plan_of(8, 6));
  }
}

TEST(CaseI3Run, InterleavedWithAMultipleOfTheDevices) {
  expect_equals_one_process(pipeline_of("interleaved", 4, 8, 8), plan_of(8, 11));
  expect_equals_one_process(pipeline_of("interleaved", 1, 3, 4), plan_of(4, 6));
}

// M8: what the planner deals out is run: 61 layers on 16 devices of two stages each, and 30 samples
// over 4 replicas.
TEST(CaseM8Run, LargeUnevenLayersAndBatches) {
  auto plan = plan_of(61, 16);
  plan.steps = 1;
  expect_equals_one_process(pipeline_of("interleaved", 16, 16, 61), plan);
  expect_equals_one_process(pipeline_of("1f1b", 2, 2, 4, 4), plan_of(4, 30));
}

// Hidden 4, tied: the table is on the first and on the last stage. The case's vocabulary of 8 is
// one of 256 here, for the first sample's bytes.
TEST(CaseI5, CopiesOfATiedTableStayEqualAndCostOneAllReduceAStep) {
  TrainingPlan plan = plan_of(4, 4);
  auto& config = std::get<GptConfig>(plan.model);
  config.hidden = 4;
  config.tied = true;
  plan.optimizer = {.kind = "adamw", .lr = 0.01};
  plan.steps = 10;
  const auto truth = train_alone(plan);
  for (const int stages : {2, 4}) {
    const auto all = train_on_mesh(pipeline_of("1f1b", stages, 4, 4), plan, truth);
    EXPECT_LT(worst_of(all).parameters, 1e-9);
    EXPECT_LT(worst_of(all).norm, 1e-12);
    for (std::size_t step = 0; step < 10; ++step) {
      EXPECT_NE(all.front().tables[step], 0U);
      EXPECT_EQ(all.front().tables[step], all.back().tables[step]) << step;
    }
    for (std::size_t stage = 0; stage < all.size(); ++stage) {
      const bool end = stage == 0 || stage + 1 == all.size();
      EXPECT_EQ(all[stage].copies_sent, end ? 10 * 256 * 4 * 8 : 0) << stage;  // two ranks: n each
    }
    auto apart = pipeline_of("1f1b", stages, 4, 4);
    apart.pipeline->fault = Fault::copies_not_summed;
    const auto faulty = train_on_mesh(apart, plan, truth);
    EXPECT_NE(faulty.front().tables[0], faulty.back().tables[0]);
    EXPECT_GT(worst_of(faulty).gradients, 1e-3);
  }
}

TEST(CaseI7, TheReportedLossIsTheMeanOfTheLastStagesOnEveryRank) {
  auto plan = plan_of(3, 5);  // replicas of 3 samples and of 2
  plan.steps = 1;
  const auto truth = train_alone(plan);
  const auto all = train_on_mesh(pipeline_of("1f1b", 3, 2, 3, 2), plan, truth);
  ASSERT_EQ(all.size(), 6U);
  for (const SeenOnMesh& seen : all) {
    EXPECT_NEAR(seen.reported, truth.front().loss, 1e-12);
    EXPECT_GT(std::abs(seen.reported - truth.front().loss / 3), 1);  // zeros of other stages in it
  }
}

TEST(CaseI9Run, BothDirectionsHaveTheGradientsOfOneProcess) {
  for (const int microbatches : {8, 10}) {
    expect_equals_one_process(pipeline_of("dualpipe", 4, microbatches, 4), plan_of(4, 11));
  }
  expect_equals_one_process(pipeline_of("dualpipe", 2, 4, 4), plan_of(4, 11));
}

// p = 8, m = 16, B = 2F: what the executor takes, with free links, is what the timeline says.
TEST(CaseI10Run, LargeTheExecutedTimeIsThatOfTheTimeline) {
  constexpr Time unit = std::chrono::microseconds(12);  // which chunks divide
  std::vector<Schedule> schedules{make_schedule("dualpipe", {.stages = 8, .microbatches = 16})};
  for (const int chunks : {1, 2, 3, 4}) {
    schedules.push_back(
        make_schedule("interleaved", {.stages = 8, .microbatches = 16, .chunks = chunks}));
  }
  const Link free{Rate{Rate::infinite}, Time{0}};
  for (const Schedule& schedule : schedules) {
    auto plan = plan_of(static_cast<std::size_t>(schedule.stages), 16, DType::f32);
    const PipelinePlan pipeline{
        .schedule = schedule,
        .split = split_by_number(static_cast<std::size_t>(schedule.stages), schedule.stages, 1, 2),
        .costs = StageCosts{unit, unit, unit}};
    const JobOptions job{
        .cluster = {.nvlink = free, .ib = free, .flops = Rate{Rate::infinite}, .capacity = {}},
        .region_bytes = 4 * memory_estimate(plan, plan.batch)};
    const auto ends = run_ranks_tested(8, job, [&](Rank& rank) {
      MeshTraining training(rank, plan,
                            {.shape = {.pp = 8}, .microbatches = 16, .pipeline = pipeline});
      training.distribute();
      training.gradient(0);
      return training.times().backward_end - training.times().start;
    });
    const ScheduleTiming timing = time_of(schedule);
    const Rational executed((*std::ranges::max_element(ends)).count());
    EXPECT_EQ(executed, timing.makespan() * Rational(unit.count())) << schedule.name;
    EXPECT_FALSE(timing.bubble_over_total() < Rational(0));
    EXPECT_TRUE(timing.bubble_over_total() < Rational(1));
  }
}

}  // namespace
}  // namespace ringside
