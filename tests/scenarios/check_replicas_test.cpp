// Replicas: the first step is named in which a rank differs, and the first such rank.
#include <gtest/gtest.h>

#include "scenarios/checks.hpp"

namespace ringside {
namespace {

Check replicas_of(const TrainingOutcome& outcome) {
  const Reference truth;
  Settings settings;
  settings.ranks = 4;
  return check_replicas({.settings = settings,
                         .text = {},
                         .truth = truth,
                         .main = outcome,
                         .options = {},
                         .progress = [](std::string_view) {}})
      .front();
}

TrainingOutcome four_ranks_of_three_steps() {
  return {.job = {}, .ranks = {4, std::vector<StepOutcome>(3)}};
}

TEST(CheckReplicas, AreEqualWhereAllHashesAre) {
  EXPECT_EQ(replicas_of(four_ranks_of_three_steps()).verdict, CheckVerdict::pass);
}

TEST(CheckReplicas, NameTheFirstStepAndTheFirstRankThatDiffer) {
  TrainingOutcome outcome = four_ranks_of_three_steps();
  outcome.ranks[1][2].parameter_hash = 1;
  outcome.ranks[2][1].gradient_hash = 1;
  outcome.ranks[3][1].gradient_hash = 1;
  const Check check = replicas_of(outcome);
  EXPECT_EQ(check.verdict, CheckVerdict::fail);
  EXPECT_EQ(check.measured, "rank 2 differs at step 2");
}

}  // namespace
}  // namespace ringside
