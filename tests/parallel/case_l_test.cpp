// Cases L1 and L2: a training that goes on from what was stored.
#include <gtest/gtest.h>

#include <numeric>

#include "parallel/batch_share.hpp"
#include "parallel/full_state.hpp"
#include "runtime/errors.hpp"
#include "tests/parallel/resumed_training.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ringside {
namespace {

using PlanOf = TrainingPlan (*)(const std::string& optimizer, int steps);

TrainingPlan mlp_with_a_bias_of_10(const std::string& optimizer, int steps) {
  return uneven_plan(optimizer, steps);
}

// Whether 10 steps, a checkpoint and 10 more end like 20 in one go, bit for bit.
void expect_the_same_end(const Leg& first, const Leg& second, const std::string& optimizer,
                         PlanOf plan_of = mlp_with_a_bias_of_10) {
  const TemporaryFolder folder;
  const TrainingPlan ten = plan_of(optimizer, 10);
  const Trained whole = train_leg(first, plan_of(optimizer, 20), folder / "whole");
  const Trained begun = train_leg(first, ten, folder / "parts");
  const Trained ended = train_leg(second, from(ten, begun.end), folder / "parts");
  EXPECT_EQ(begun.end->step, 10);
  EXPECT_EQ(ended.end->step, 20);
  std::vector<double> losses = begun.losses;
  losses.insert(losses.end(), ended.losses.begin(), ended.losses.end());
  EXPECT_EQ(losses, whole.losses);
  EXPECT_TRUE(difference(whole.end->weights, ended.end->weights).none());
  EXPECT_TRUE(difference(whole.end->optimizer, ended.end->optimizer).none());
  EXPECT_FALSE(difference(whole.end->weights, begun.end->weights).none()) << "nothing was learnt";
}

TEST(CaseL1, TenStepsAndTenMoreAreTwenty) {
  for (const std::string optimizer : {"sgd", "adamw"}) {
    for (const int stage : {0, 1, 2, 3}) {
      SCOPED_TRACE(optimizer + ", stage " + std::to_string(stage));
      expect_the_same_end({.ranks = 4, .stage = stage}, {.ranks = 4, .stage = stage}, optimizer);
    }
  }
}

TEST(CaseL1, AVocabularyOf10Over4RanksGoesOnBitForBit) {
  for (const std::string optimizer : {"sgd", "adamw"}) {
    SCOPED_TRACE(optimizer);
    expect_the_same_end({.ranks = 4, .stage = 3}, {.ranks = 4, .stage = 3}, optimizer,
                        ten_tokens_plan);
  }
}

TEST(CaseL1, TheTableOf10TokensIsStoredWhole) {
  const TemporaryFolder folder;
  const Trained trained =
      train_leg({.ranks = 4, .stage = 3}, ten_tokens_plan("adamw", 1), folder / "x");
  const auto stored = std::vector<std::size_t>{10, 5};
  EXPECT_EQ(trained.end->weights.at("embed.weight").shape, stored);
  EXPECT_EQ(trained.end->optimizer.at("head.weight.exp_avg").bytes.size(), 4U * 10 * 5);
}

TEST(CaseL1, WhatZeroHasStoredDataParallelismGoesOnFrom) {
  expect_the_same_end({.ranks = 4, .stage = 3}, {.ranks = 4, .stage = 0}, "adamw");
  expect_the_same_end({.ranks = 4, .stage = 0}, {.ranks = 4, .stage = 3}, "adamw");
}

TEST(CaseL1, TheBiasOfTenIsStoredWhole) {
  const TemporaryFolder folder;
  const Trained trained =
      train_leg({.ranks = 4, .stage = 3}, uneven_plan("adamw", 1), folder / "x");
  EXPECT_EQ(trained.end->weights.at("hidden.0.bias").shape, std::vector<std::size_t>{10});
  EXPECT_EQ(trained.end->optimizer.at("hidden.0.bias.exp_avg").bytes.size(), 40U);
}

TEST(CaseL1, AStateThatLacksSomethingEndsElsewhere) {
  const TemporaryFolder folder;
  const Leg leg{.ranks = 2, .stage = 3};
  const TrainingPlan plan = uneven_plan("adamw", 2);
  const Trained begun = train_leg(leg, plan, folder / "begun");
  const Trained right = train_leg(leg, from(plan, begun.end), folder / "right");
  const auto ends_elsewhere = [&](const std::function<void(Checkpoint&)>& damage) {
    auto other = std::make_shared<Checkpoint>(*begun.end);
    damage(*other);
    const Trained wrong = train_leg(leg, from(plan, other), folder / "wrong");
    std::filesystem::remove_all(folder / "wrong");
    return !difference(right.end->weights, wrong.end->weights).none();
  };
  EXPECT_FALSE(ends_elsewhere([](Checkpoint&) {})) << "the control of the controls";
  EXPECT_TRUE(ends_elsewhere([](Checkpoint& c) { c.step = 3; })) << "other samples";
  EXPECT_TRUE(ends_elsewhere([](Checkpoint& c) {
    std::ranges::fill(c.optimizer.at("hidden.0.weight.exp_avg").bytes, std::byte{0});
  }));
  EXPECT_TRUE(ends_elsewhere([](Checkpoint& c) {
    auto& updates = c.optimizer.at("head.weight.step").bytes;  // 1, as it may be
    std::ranges::fill(updates, std::byte{0});
    updates.front() = std::byte{1};
  }));
}

// ---- L2 ----------------------------------------------------------------------------------------

// The numbers of the samples that a rank learns from, in 2 steps from plan.start on.
std::vector<std::uint64_t> samples_learnt(int ranks, const TrainingPlan& plan) {
  const auto by_rank = run_ranks_tested(ranks, {}, [&](Rank& rank) {
    std::vector<std::uint64_t> seen;
    const auto model = make_model({rank.memory(), rank.clock()}, plan.model, 1);
    DataParallel dp(rank.world(), rank.memory(), model->layers(), {});
    const auto parameters = flatten(model->layers());
    const auto optimizer = make_optimizer(plan.optimizer, rank.memory(), parameters);
    DataParallelStep step(
        rank.world(), dp, *model,
        [&](int s, int index) {
          const auto [first, count] = samples_of(plan.batch, {rank.id(), rank.size(), 1}, index);
          for (std::uint64_t i = first; i < first + count; ++i) {
            seen.push_back(static_cast<std::uint64_t>(s) * plan.batch + i);
          }
          return make_batch(plan.data, static_cast<std::uint64_t>(s), first, count);
        },
        1);
    train(plan, parameters, *optimizer, std::ref(step), [](int, const StepRecord&) {});
    return seen;
  });
  std::vector<std::uint64_t> all;
  for (const auto& seen : by_rank) {
    all.insert(all.end(), seen.begin(), seen.end());
  }
  std::ranges::sort(all);
  return all;
}

TEST(CaseL2, TheSamplesGoOnWhereTheyStoppedOverAnyRanks) {
  const TemporaryFolder folder;
  TrainingPlan plan = uneven_plan("sgd", 3);
  const Trained begun = train_leg({.ranks = 2}, plan, folder / "x");
  plan.steps = 2;
  std::vector<std::uint64_t> next(8);
  std::iota(next.begin(), next.end(), 12);
  for (const int ranks : {1, 2, 3, 4}) {
    EXPECT_EQ(samples_learnt(ranks, from(plan, begun.end)), next) << ranks;
  }
  EXPECT_NE(samples_learnt(2, plan), next) << "from the seed it would begin with sample 0";
}

TEST(CaseL2, OtherRanksEndWhereOneProcessEnds) {
  const TemporaryFolder folder;
  TrainingPlan plan = uneven_plan("sgd", 3);
  const Trained begun = train_leg({.ranks = 2}, plan, folder / "x");
  const TrainingPlan more = from(plan, begun.end);
  const auto truth = train_alone(more);
  for (const Leg leg : {Leg{.ranks = 1}, Leg{.ranks = 4}, Leg{.ranks = 4, .stage = 3}}) {
    const TemporaryFolder here;
    const Trained ended = train_leg(leg, more, here / "x");
    for (std::size_t s = 0; s < truth.size(); ++s) {
      EXPECT_NEAR(ended.losses[s], truth[s].loss, 1e-6);
    }
  }
}

}  // namespace
}  // namespace ringside
