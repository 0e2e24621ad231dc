// Expert parallelism against one process, cases K1, K2, K3, K6 and K7 over ranks, and H5.
#include "parallel/expert/expert_parallel.hpp"

#include <gtest/gtest.h>

#include "parallel/pipeline/generators.hpp"
#include "runtime/errors.hpp"
#include "tests/parallel/training_on_mesh.hpp"

namespace ringside {
namespace {

std::string described(const OnMesh& on) {
  return "tp " + std::to_string(on.mesh.tp) + ", dp " + std::to_string(on.mesh.dp) + ", ep " +
         std::to_string(on.ep) + (on.by_node ? ", by node" : "") +
         (on.random_placement ? ", placed anyhow" : "") + ", " + std::to_string(on.microbatches) +
         " micro-batches";
}

void expect_equal(const SeenOnMesh& seen, const std::string& what) {
  EXPECT_LT(seen.gradients, 1e-12) << what;
  EXPECT_LT(seen.parameters, 1e-12) << what;
  EXPECT_LT(seen.loss, 1e-12) << what;
  EXPECT_LT(seen.norm, 1e-12) << what;
}

void expect_equals_one_process(const OnMesh& on, const TrainingPlan& plan) {
  expect_equal(worst_of(train_on_mesh(on, plan)), described(on));
}

TEST(ExpertParallel, EqualsOneProcess) {
  const auto plan = plan_of_experts(gpt_of_experts());
  for (const int ep : {1, 2, 4}) {
    for (const int microbatches : {1, 2}) {
      expect_equals_one_process({.mesh = {.dp = 4}, .ep = ep, .microbatches = microbatches}, plan);
    }
  }
  expect_equals_one_process({.mesh = {.dp = 8}, .ep = 8}, plan);
  expect_equals_one_process({.mesh = {.dp = 8}, .ep = 4}, plan);
}

TEST(ExpertParallel, EqualsOneProcessInThreadsToo) {
  expect_equals_one_process({.mesh = {.dp = 4}, .ep = 4, .as = Ranks::threads},
                            plan_of_experts(gpt_of_experts()));
}

// Each sender's rows of an expert are multiplied at once, as the routing group is in one process:
// with one micro-batch and one holder of each expert, the gradients are added in the same order.
TEST(ExpertParallel, HasTheBitsOfOneProcessForItsExperts) {
  auto plan = plan_of_experts(gpt_of_experts());
  plan.steps = 1;  // the dense gradients are added in another order
  const auto truth = train_groups_in_turn(plan, 2, 1).steps;
  EXPECT_EQ(worst_of(train_on_mesh({.mesh = {.dp = 2}, .ep = 2}, plan, truth)).bits_differ, 0U);
}

TEST(ExpertParallel, ByNodeAndPlacedAnyhowEqualsOneProcess) {
  const auto plan = plan_of_experts(gpt_of_experts());
  for (const bool random : {false, true}) {
    for (const int gpus : {1, 2, 4}) {
      expect_equals_one_process({.mesh = {.dp = 4},
                                 .ep = 4,
                                 .by_node = true,
                                 .random_placement = random,
                                 .gpus_per_node = gpus},
                                plan);
    }
    expect_equals_one_process({.mesh = {.dp = 4}, .ep = 2, .random_placement = random}, plan);
  }
}

TEST(ExpertParallel, EqualsOneProcessWithEveryRouter) {
  GptConfig config = gpt_of_experts();
  config.top_k = 3;
  config.router = {.score = RouterScore::sigmoid,
                   .groups = 4,
                   .top_groups = 2,
                   .capacity = 1.0,
                   .balance = 0.01,
                   .bias_rate = 0.01};
  for (const int microbatches : {1, 2}) {
    expect_equals_one_process({.mesh = {.dp = 4}, .ep = 4, .microbatches = microbatches},
                              plan_of_experts(config));
  }
  config.recompute = Recompute::full;
  expect_equals_one_process({.mesh = {.dp = 2}, .ep = 2}, plan_of_experts(config));
}

// ---- The product --------------------------------------------------------------------------------

GptConfig gpt_that_drops() {
  GptConfig config = gpt_of_experts();
  config.layers = 4;
  config.router = {
      .score = RouterScore::sigmoid, .capacity = 1.0, .balance = 0.01, .bias_rate = 0.01};
  return config;
}

// Samples of 9 bytes and one of 27, which blocks of context parallelism do not divide: what an
// expert drops depends on the places of tokens that several ranks have in turn.
TEST(ExpertParallel, EqualsOneProcessOverEveryOtherCut) {
  const auto plan = plan_of_experts(gpt_that_drops());
  for (const auto layout : {ContextLayout::zigzag, ContextLayout::contiguous}) {
    for (const int ep : {1, 2, 4}) {
      expect_equals_one_process(
          {.mesh = {.cp = 2, .dp = 2}, .ep = ep, .microbatches = 2, .context = {.layout = layout}},
          plan);
    }
    for (const bool sequence : {false, true}) {
      expect_equals_one_process({.mesh = {.tp = 2, .cp = 2, .dp = 2},
                                 .ep = 4,
                                 .sequence = sequence,
                                 .context = {.layout = layout}},
                                plan);
    }
  }
}

TEST(ExpertParallel, EqualsOneProcessUnderZero) {
  const auto plan = plan_of_experts(gpt_that_drops());
  for (const int zero : {1, 2, 3}) {
    for (const int ep : {1, 2, 4}) {
      expect_equals_one_process({.mesh = {.dp = 4}, .ep = ep, .zero = zero, .microbatches = 2},
                                plan);
      expect_equals_one_process(
          {.mesh = {.dp = 4}, .ep = ep, .random_placement = true, .zero = zero}, plan);
    }
    expect_equals_one_process(
        {.mesh = {.tp = 2, .cp = 2, .dp = 2}, .ep = 2, .sequence = true, .zero = zero}, plan);
  }
}

TEST(ExpertParallel, EqualsOneProcessInAPipeline) {
  const auto plan = plan_of_experts(gpt_that_drops());
  for (const char* name : {"1f1b", "zb_h1", "dualpipe"}) {
    const Schedule schedule = make_schedule(name, {.stages = 2, .microbatches = 4});
    for (const int zero : {0, 2}) {
      expect_equals_one_process({.mesh = {.pp = 2, .dp = 2},
                                 .ep = 2,
                                 .zero = zero,
                                 .microbatches = 4,
                                 .pipeline = PipelinePlan{.schedule = schedule, .split = {3, 4}}},
                                plan);
    }
  }
}

// The gates of docs/exactness.md.
TEST(ExpertParallel, PassesTheGatesInF32) {
  const auto plan = plan_of_experts(gpt_of_experts(DType::f32));
  for (const bool by_node : {false, true}) {
    const auto seen = worst_of(
        train_on_mesh({.mesh = {.dp = 4}, .ep = 4, .by_node = by_node, .gpus_per_node = 2}, plan));
    EXPECT_LT(seen.gradients, 1e-6);
    EXPECT_LT(seen.loss, 1e-6);
    EXPECT_LT(seen.norm, 1e-6);
  }
}

// ---- Negative controls --------------------------------------------------------------------------

TEST(ExpertParallel, AFaultIsFarFromOneProcess) {
  GptConfig config = gpt_of_experts();
  config.router = {.score = RouterScore::sigmoid, .groups = 4, .top_groups = 1, .capacity = 0.5};
  const auto plan = plan_of_experts(config);
  const auto truth = train_groups_in_turn(plan, 4, 1).steps;
  for (const Fault fault : {Fault::expert_gradient_divided, Fault::dispatch_offset_wrong,
                            Fault::dropped_kept, Fault::masked_groups_eligible}) {
    const auto seen =
        worst_of(train_on_mesh({.mesh = {.dp = 4}, .ep = 4, .fault = fault}, plan, truth));
    EXPECT_GT(seen.gradients, 1e-5) << static_cast<int>(fault);
  }
}

// ---- Case K1: a rank whose experts get no token -------------------------------------------------

TEST(CaseK1, RanksWithoutTokensTakePartInAsManyExchanges) {
  for (const std::size_t hot : std::vector<std::size_t>{1, 2}) {
    GptConfig config = gpt_of_experts();
    config.experts = 4;
    config.top_k = hot;
    config.router.hot = hot;
    const auto all = train_on_mesh({.mesh = {.dp = 2}, .ep = 2}, plan_of_experts(config));
    expect_equal(worst_of(all), std::to_string(hot) + " experts have all tokens");
    EXPECT_EQ(all[0].operations, all[1].operations);
  }
}

TEST(CaseK1, ABatchOfNoTokensOnOneRankIsOrdinary) {
  const auto all =
      train_on_mesh({.mesh = {.dp = 2}, .ep = 2}, plan_of_experts(gpt_of_experts(), 1));
  expect_equal(worst_of(all), "one sample for two ranks");
  EXPECT_EQ(all[0].operations, all[1].operations);
  EXPECT_GT(all[1].operations, 0);
}

// ---- Case K2: expert gradients do not scale with ep ---------------------------------------------

TEST(CaseK2, TheRatioOfExpertGradientsIsOne) {
  const auto plan = plan_of_experts(gpt_of_experts());
  for (const int ep : {1, 2, 4, 8}) {
    const auto seen = worst_of(train_on_mesh({.mesh = {.dp = std::max(4, ep)}, .ep = ep}, plan));
    EXPECT_NEAR(seen.expert_ratio, 1, 1e-9) << ep;
  }
  const auto divided = worst_of(
      train_on_mesh({.mesh = {.dp = 4}, .ep = 4, .fault = Fault::expert_gradient_divided}, plan));
  EXPECT_NEAR(divided.expert_ratio, 0.25, 0.2);
}

TEST(CaseK2, WithTensorParallelismTooTheRatioIsOne) {
  const auto plan = plan_of_experts(gpt_of_experts());
  for (const bool sequence : {false, true}) {
    const OnMesh on{.mesh = {.tp = 2, .dp = 2}, .ep = 2, .sequence = sequence};
    const auto seen = worst_of(train_on_mesh(on, plan));
    expect_equal(seen, described(on));
    EXPECT_NEAR(seen.expert_ratio, 1, 1e-9);
  }
}

// ---- Case K3: the reported balance loss ---------------------------------------------------------

TEST(CaseK3, TheReportedBalanceDoesNotDependOnTheRanks) {
  GptConfig config = gpt_of_experts();
  config.experts = 4;
  config.top_k = 4;  // balanced: every token goes to all
  for (const int dp : {1, 2, 4}) {
    for (const int ep : {1, 2, 4}) {
      if (dp % ep == 0) {
        const auto plan = plan_of_experts(config);
        for (const auto& seen : train_on_mesh({.mesh = {.dp = dp}, .ep = ep}, plan)) {
          EXPECT_NEAR(seen.balance, 1, 1e-12) << dp << ep;
        }
      }
    }
  }
}

// With the routing of a run: the same on every rank, whatever ep, and as one process reports it.
TEST(CaseK3, TheReportedBalanceIsThatOfOneProcess) {
  const auto plan = plan_of_experts(gpt_of_experts());
  const auto truth = train_groups_in_turn(plan, 4, 1);
  const double balance = balance_of(truth.routers.back().front());
  EXPECT_GT(balance, 1);
  for (const int ep : {1, 2, 4}) {
    for (const auto& seen : train_on_mesh({.mesh = {.dp = 4}, .ep = ep}, plan, truth.steps)) {
      EXPECT_NEAR(seen.balance, balance, 1e-12) << ep;
    }
  }
}

// ---- Case K6: ties, over ranks ------------------------------------------------------------------

TEST(CaseK6, TiesGiveTheGradientsOfOneProcessWhateverTheRanks) {
  GptConfig config = gpt_of_experts();
  config.experts = 4;
  config.router.hot = 4;  // all preferred, and top_k of them
  const auto plan = plan_of_experts(config);
  const auto truth = train_groups_in_turn(plan, 4, 1).steps;
  for (const int ep : {1, 2, 4}) {
    expect_equal(worst_of(train_on_mesh({.mesh = {.dp = 4}, .ep = ep}, plan, truth)),
                 "ep " + std::to_string(ep));
  }
}

// Before the first update the weights are the same bits, and so must be what comes out of them.
TEST(CaseK6, OutputsHaveTheSameBitsWhateverTheRanks) {
  GptConfig config = gpt_of_experts();
  config.experts = 4;
  auto plan = plan_of_experts(config);
  plan.steps = 1;
  const auto truth = train_groups_in_turn(plan, 4, 1).steps;
  const auto reported = [&](int ep) {
    return train_on_mesh({.mesh = {.dp = 4}, .ep = ep}, plan, truth).front().reported;
  };
  const double first = reported(1);
  EXPECT_NEAR(first, truth.front().loss, 1e-12);
  for (int run = 0; run < 5; ++run) {
    for (const int ep : {1, 2, 4}) {
      EXPECT_EQ(reported(ep), first) << ep;
    }
  }
}

// ---- Case K7: what is dropped, over ranks -------------------------------------------------------

TEST(CaseK7, TheRanksDropWhatOneProcessDrops) {
  GptConfig config = gpt_of_experts();
  config.router.capacity = 1.0;
  const auto plan = plan_of_experts(config);
  const auto truth = train_groups_in_turn(plan, 4, 1);
  const std::int64_t dropped = truth.routers.back().front().dropped;
  EXPECT_GT(dropped, 0);
  for (const int ep : {1, 2, 4}) {
    const auto all = train_on_mesh({.mesh = {.dp = 4}, .ep = ep}, plan, truth.steps);
    expect_equal(worst_of(all), "ep " + std::to_string(ep));
    EXPECT_EQ(all.front().dropped, dropped);
  }
}

// Sequence parallelism cuts a routing group over ranks: the earlier rank's tokens go first.
TEST(CaseK7, TokensAreDroppedInOrderAcrossTheRanksOfARoutingGroup) {
  GptConfig config = gpt_of_experts();
  config.router = {.capacity = 1.0, .balance = 0.01};
  expect_equals_one_process({.mesh = {.tp = 2, .dp = 2}, .ep = 2, .sequence = true},
                            plan_of_experts(config));
}

// ---- Case H5: the router under sequence parallelism ---------------------------------------------

TEST(CaseH5, RouterWeightsStayEqualUnderSequenceParallelism) {
  GptConfig config = gpt_of_experts();
  config.experts = 4;
  TrainingPlan plan = plan_of_experts(config, 2);
  plan.steps = 20;
  const auto truth = train_groups_in_turn(plan, 1, 1).steps;
  const auto all =
      train_on_mesh({.mesh = {.tp = 2, .dp = 1}, .ep = 1, .sequence = true}, plan, truth);
  expect_equal(worst_of(all), "tp 2, sequence parallel");
  EXPECT_EQ(all[0].router_hash, all[1].router_hash);
}

// ---- Refusals -----------------------------------------------------------------------------------

std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const BadUse& refused) {
    return refused.what();
  }
  return "";
}

TEST(ExpertPlacement, IsRefusedWithTheNumbers) {
  EXPECT_EQ(refusal([] { Placement(6, 4); }),
            "experts = 6 cannot be divided over ep = 4 ranks: ep may be 1, 2, 3, 6");
}

TEST(ExpertPlacement, AnyhowIsEveryExpertOnce) {
  const auto placement = Placement::random(16, 4, 1);
  std::vector<std::size_t> all;
  for (int r = 0; r < 4; ++r) {
    for (const std::size_t e : placement.experts_of(r)) {
      EXPECT_EQ(placement.rank_of(e), r);
      all.push_back(e);
    }
  }
  EXPECT_NE(all, Placement(16, 4).order());
  std::ranges::sort(all);
  EXPECT_EQ(all, Placement(16, 4).order());
}

}  // namespace
}  // namespace ringside
