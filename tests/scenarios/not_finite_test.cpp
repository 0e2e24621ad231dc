// Infinite, or no number: no check passes it, and the first place where it is so is named.
#include "scenarios/not_finite.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "models/safetensors.hpp"
#include "scenarios/checks.hpp"
#include "scenarios/control.hpp"
#include "scenarios/exit_codes.hpp"
#include "tests/scenarios/refusal.hpp"
#include "tests/support/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ringside {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TrainingOutcome three_ranks_of_two_steps() {
  return {.job = {}, .ranks = {3, std::vector<StepOutcome>(2)}};
}

Spot spot(const char* tensor, std::uint64_t element, double run, double reference) {
  return {std::string_view(tensor), element, run, reference};
}

TEST(NotFinite, IsNamedByTensorElementRankAndStep) {
  auto outcome = three_ranks_of_two_steps();
  EXPECT_FALSE(first_not_finite(outcome));
  EXPECT_TRUE(finite_gate("f32", outcome).empty());
  outcome.ranks[0][1].gradient_not_finite = spot("w", 7, nan, 0.5);  // after the reduction
  outcome.ranks[2][1].own_gradient_not_finite = spot("w", 7, nan, 0);
  const auto found = first_not_finite(outcome);
  ASSERT_TRUE(found);
  EXPECT_EQ(sentence(*found),
            "the rank's own gradient of w, element 7, on rank 2 at step 2: nan in the run: in one "
            "process it is finite");
  const Check check = finite_gate("f32", outcome).front();
  EXPECT_EQ(check.name, "f32.finite");
  EXPECT_EQ(check.verdict, CheckVerdict::fail);
  EXPECT_EQ(check.measured, "nan");
}

TEST(NotFinite, OfOneProcessTooMeansThatTrainingItselfDiverged) {
  auto outcome = three_ranks_of_two_steps();
  for (auto& rank : outcome.ranks) {
    rank[0].loss = rank[0].reference_loss = nan;
  }
  const auto found = first_not_finite(outcome);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->what, "loss");
  EXPECT_TRUE(has(found->cause, "training itself diverged")) << found->cause;
}

// What loss scaling has found too large, and thrown away, is no fault.
TEST(NotFinite, GradientsThatBothThrowAwayAreNone) {
  auto outcome = three_ranks_of_two_steps();
  StepOutcome& step = outcome.ranks[1][0];
  step.own_gradient_not_finite = spot("w", 0, nan, 0);
  step.skipped = true;
  EXPECT_TRUE(first_not_finite(outcome)) << "one process did not";
  step.reference_skipped = true;
  EXPECT_FALSE(first_not_finite(outcome));
}

TEST(NotFinite, EqualBitsOfNaNsAreNotEqual) {
  auto outcome = three_ranks_of_two_steps();
  EXPECT_EQ(seen_finite("equal", outcome), "equal");
  outcome.ranks[1][1].parameter_not_finite = spot("w", 0, nan, nan);
  EXPECT_EQ(seen_finite("equal", outcome), "not finite on rank 1 at step 2");
  EXPECT_EQ(seen_finite("rank 2 differs at step 1", outcome), "rank 2 differs at step 1");
}

TEST(NotFinite, AGateThatOnlyAFaultBreaksIsLookedUpByName) {
  const Checks without{below("f32.gradient", 0, 1)};
  auto outcome = three_ranks_of_two_steps();
  outcome.ranks[0][0].loss = nan;
  Checks with{below("f32.gradient", 0, 1), finite_gate("f32", outcome).front()};
  const Check control = judge_control("fault", with, without);
  EXPECT_EQ(control.verdict, CheckVerdict::pass);
  EXPECT_EQ(control.note, "breaks f32.finite finite");
}

// A checkpoint with one NaN, gone on from under loss scaling, which skips every step of it.
TEST(NotFinite, ANaNInTheWeightsFailsARunUnderLossScaling) {
  const TemporaryFolder folder;
  const std::string common =
      "run dp/ring --ranks 2 --json --log none --set train.optimizer=adamw --set train.lr=0.001"
      " --set train.steps=2 --set train.loss_scale=dynamic --set train.batch=8"
      " --set 'checks.run=[\"gradients\", \"replicas\"]'";
  const auto sound = run_program(common + " --save x", "", folder.path());
  ASSERT_EQ(sound.exit_code, exit_ok) << sound.err << sound.out;
  const auto file = folder / "x/step-2/model.safetensors";
  SafetensorsFile checkpoint = load_safetensors(file);
  const auto name = checkpoint.tensors.rbegin()->first;
  const float no_number = std::numeric_limits<float>::quiet_NaN();
  std::memcpy(checkpoint.tensors.at(name).bytes.data() + 3 * sizeof(float), &no_number,
              sizeof no_number);
  save_safetensors(file, checkpoint);
  const auto ended = run_program(common + " --resume x", "", folder.path());
  EXPECT_EQ(ended.exit_code, exit_check_failed) << ended.err;
  const auto document = ended.document();
  EXPECT_TRUE(has(document["what_broke"].get<std::string>(),
                  "weight of " + name + ", element 3, on rank 0 before the first step: nan"))
      << document["what_broke"];
  EXPECT_TRUE(has(document["what_broke"].get<std::string>(), "training itself diverged"));
  for (const auto& check : document["checks"]) {
    const bool of_weights = check["name"] != "f32.skipped_steps";
    EXPECT_EQ(check["verdict"], of_weights ? "fail" : "pass") << check;
  }
}

}  // namespace
}  // namespace ringside
