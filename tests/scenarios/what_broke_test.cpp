// The first sentence of a failing report: the right place, of faults that are planted.
#include "scenarios/what_broke.hpp"

#include <gtest/gtest.h>

#include "models/text.hpp"
#include "scenarios/checks.hpp"
#include "scenarios/overrides.hpp"
#include "scenarios/run_report.hpp"
#include "scenarios/scenario_file.hpp"
#include "tests/scenarios/refusal.hpp"

namespace ringside {
namespace {

Check failing(const char* name, Worst worst) {
  Check check = below(name, 2, 1);
  check.worst = std::move(worst);
  return check;
}

TEST(WhatBroke, SaysTensorElementRankStepAndBothNumbers) {
  const Worst worst{.what = "gradient",
                    .tensor = "hidden.0.weight",
                    .element = 7,
                    .rank = 3,
                    .step = 1,
                    .run = 0.25,
                    .reference = 0.5,
                    .cause = "an offset is wrong"};
  EXPECT_EQ(what_broke({below("fine", 0, 1), failing("f32.gradient", worst)}),
            "gradient of hidden.0.weight, element 7, on rank 3 at step 1: 0.25 in the run, 0.5 in "
            "one process: an offset is wrong (f32.gradient is 2.0, must be < 1)");
  EXPECT_EQ(worst_json(worst),
            nlohmann::json::parse(R"({"what": "gradient", "tensor": "hidden.0.weight",
                "element": 7, "rank": 3, "step": 1, "run": 0.25, "reference": 0.5,
                "cause": "an offset is wrong"})"));
}

TEST(WhatBroke, TakesTheEarliestStepAndWhatIsNotFiniteBeforeAll) {
  const Check third = failing("third", {.what = "gradient", .tensor = "t", .step = 3});
  const Check first = failing("first", {.what = "parameter", .tensor = "u", .step = 1});
  const Check finite = failing("f32.finite", {.what = "loss", .step = 4});
  const Check nowhere = below("nowhere", 2, 1, "why");
  EXPECT_TRUE(what_broke({nowhere, third, first}).starts_with("parameter of u"));
  EXPECT_TRUE(what_broke({nowhere, third, first, finite}).starts_with("loss"));
  EXPECT_EQ(what_broke({nowhere}), "nowhere is 2.0, must be < 1: why");
  EXPECT_EQ(what_broke({below("fine", 0, 1)}), "");
}

TEST(WhatBroke, AControlThatIsNotCaughtIsSaidToBeOne) {
  Check control = below("control.lost", 2, 1);
  control.control = true;
  EXPECT_EQ(what_broke({control}), "control.lost: a deliberate fault that no gate catches");
}

TEST(WhatBroke, IsTheFirstLineOfAReportThatFailsAndNotOfOneThatPasses) {
  RunReport report;
  report.headline = "a headline";
  report.checks = {below("fine", 0, 1)};
  EXPECT_TRUE(report_text(report).starts_with("a headline\n"));
  EXPECT_FALSE(report_json(report).contains("what_broke"));
  report.checks = {failing("f32.gradient", {.what = "gradient", .tensor = "t", .step = 3})};
  EXPECT_TRUE(report_text(report).starts_with("what broke: gradient of t on rank 0 at step 3"));
  EXPECT_TRUE(has(report_json(report)["what_broke"].get<std::string>(), "gradient of t"));
  EXPECT_EQ(report_json(report)["checks"][0]["worst"]["tensor"], "t");
}

// A scenario with a fault, of two steps.
Checks gates_with(const std::string& scenario, Fault fault, int ranks) {
  Settings s = load_scenario(find_scenario(scenario));
  s.ranks = ranks;
  s.train.steps = 2;
  s.train.batch = 16;
  resolve(s);
  const std::string text(builtin_text());
  const Reference truth = reference_of(s, plan_of(s, text));
  return training_gates("f32", s,
                        run_training({.settings = s, .fault = fault, .options = {}}, text, truth));
}

Worst first_worst(const Checks& checks) {
  const Check* check = nearest_to_the_cause(checks);
  EXPECT_NE(check, nullptr);
  return check != nullptr && check->worst ? *check->worst : Worst{};
}

TEST(WhatBroke, AWrongShardOffsetIsCalledAnOffsetWithTensorElementRankAndStep) {
  for (const char* scenario : {"zero/stage1", "zero/stage2", "zero/stage3"}) {
    const Checks checks = gates_with(scenario, Fault::shard_offset_wrong, 4);
    const Worst worst = first_worst(checks);
    EXPECT_EQ(worst.what, "gradient") << scenario;
    EXPECT_FALSE(worst.tensor.empty());
    EXPECT_TRUE(worst.element);
    EXPECT_EQ(worst.step, 1);
    EXPECT_TRUE(has(worst.cause, "an offset is wrong")) << scenario << ": " << what_broke(checks);
    EXPECT_FALSE(has(what_broke(checks), "copies"));
  }
}

TEST(WhatBroke, ALostContributionNamesAnElementAtStep1OnTheFirstRankThatHasIt) {
  const Worst worst = first_worst(gates_with("dp/ring", Fault::contribution_lost, 4));
  EXPECT_EQ(worst.what, "gradient");
  EXPECT_FALSE(worst.tensor.empty());
  EXPECT_TRUE(worst.element);
  EXPECT_EQ(worst.step, 1);
  EXPECT_EQ(worst.cause, "");
}

TEST(WhatBroke, WithoutAFaultNothingDid) {
  for (const char* scenario : {"zero/stage3", "dp/ring"}) {
    EXPECT_EQ(what_broke(gates_with(scenario, Fault::none, 4)), "");
  }
}

}  // namespace
}  // namespace ringside
