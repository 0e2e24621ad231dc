// Controls say "caught" only of a gate that the run without a fault holds.
#include <gtest/gtest.h>

#include "models/text.hpp"
#include "scenarios/checks.hpp"
#include "scenarios/overrides.hpp"

namespace ringside {
namespace {

Settings tiny() {
  Settings s;
  s.name = "tiny";
  s.cluster.gpus_per_node = 2;
  s.model.hidden = 8;
  s.model.layers = 1;
  s.model.embedding = 2;
  s.model.context = 2;
  s.model.sequence = 4;
  s.train.batch = 8;
  s.train.steps = 2;
  resolve(s);
  return s;
}

// Far from the reference in all that a gate looks at.
void break_every_gate(TrainingOutcome& outcome) {
  for (auto& rank : outcome.ranks) {
    for (auto& step : rank) {
      step.gradients.absolute = step.gradients.of_largest = step.gradients.worst_tensor = 1;
      step.parameters.absolute = 1;
      step.loss = 2 * step.reference_loss;
      step.gradient_norm = 2 * step.reference_norm;
    }
  }
}

Checks controls_of(bool broken) {
  const Settings settings = tiny();
  const Reference truth{.steps = train_alone(plan_of(settings, builtin_text()))};
  TrainingOutcome main = run_training({.settings = settings, .options = {}}, builtin_text(), truth);
  if (broken) {
    break_every_gate(main);
  }
  return check_controls({.settings = settings,
                         .text = builtin_text(),
                         .truth = truth,
                         .main = main,
                         .options = {},
                         .progress = [](std::string_view) {}});
}

TEST(CheckControls, AreCaughtWhereTheRunWithoutAFaultHolds) {
  for (const auto& check : controls_of(false)) {
    EXPECT_EQ(check.verdict, CheckVerdict::pass) << check.name << ": " << check.note;
  }
}

TEST(CheckControls, CatchNothingWhereTheRunWithoutAFaultBreaksTheGatesAlready) {
  int judged = 0;
  for (const auto& check : controls_of(true)) {
    if (check.name.ends_with("loss_over_100")) {
      continue;  // has a run of its own without a fault
    }
    ++judged;
    EXPECT_EQ(check.verdict, CheckVerdict::not_applicable) << check.name;
    EXPECT_NE(check.note.find(
                  "breaks f32.gradient < 1e-06; the run without a fault breaks this gate already"),
              std::string::npos)
        << check.note;
  }
  EXPECT_EQ(judged, 4);
}

}  // namespace
}  // namespace ringside
