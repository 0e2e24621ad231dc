// train.clip, train.loss_scale and train.masters, from end to end.
#include <gtest/gtest.h>

#include "scenarios/exit_codes.hpp"
#include "tests/scenarios/refusal.hpp"
#include "tests/support/program.hpp"

namespace ringside {
namespace {

const std::string small =
    " --json --log none --set model.hidden=16 --set model.heads=4 --set model.kv_heads=2"
    " --set model.ffn=24 --set model.layers=1 --set model.sequence=16 --set train.batch=8"
    " --set model.kind=gpt --set dp.bucket='2 KiB' ";

nlohmann::json check(const nlohmann::json& document, const std::string& name) {
  for (const auto& row : document["checks"]) {
    if (row["name"] == name) {
      return row;
    }
  }
  return nullptr;
}

nlohmann::json passed(const std::string& words) {
  const auto ended = run_program("run " + words);
  EXPECT_EQ(ended.exit_code, exit_ok) << words << ended.err << ended.out;
  return ended.document();
}

const std::vector<std::string> meshes{
    "--ranks 3", "--ranks 3 --set parallel.zero=1", "--ranks 3 --set parallel.zero=2",
    "--ranks 3 --set parallel.zero=3", "--ranks 4 --set parallel.tp=2 --set parallel.zero=3"};
const std::string gradients = " --set 'checks.run=[\"gradients\"]' ";

TEST(Precision, AClippedTrainingIsThatOfOneProcess) {
  for (const auto& mesh : meshes) {
    SCOPED_TRACE(mesh);
    const auto free = passed("dp/ring" + small + gradients + mesh);
    const auto clipped = passed("dp/ring" + small + gradients + mesh + " --set train.clip=0.1");
    EXPECT_EQ(clipped["losses"][0], free["losses"][0]);
    EXPECT_NE(clipped["losses"][2], free["losses"][2]) << "nothing was clipped";
    EXPECT_EQ(check(clipped, "f32.skipped_steps")["measured"], "0 of 3");
  }
}

// Each rank clips by a norm of its own: the control that the gates see.
TEST(Precision, ALocalNormIsCaughtWhileClipping) {
  const auto document = passed("zero/stage2" + small + "--ranks 4 --set train.clip=0.1");
  EXPECT_EQ(check(document, "control.norm_of_rank")["verdict"], "pass");
}

TEST(Precision, AScaledLossChangesNoBit) {
  for (const auto& mesh : meshes) {
    SCOPED_TRACE(mesh);
    const auto plain = passed("dp/ring" + small + gradients + mesh);
    for (const std::string scale : {"dynamic", "1024"}) {
      const auto scaled =
          passed("dp/ring" + small + gradients + mesh + " --set train.loss_scale=" + scale);
      EXPECT_EQ(scaled["losses"], plain["losses"]) << scale;
      EXPECT_EQ(check(scaled, "f32.skipped_steps")["measured"], "0 of 3");
    }
  }
}

// Case G6 in the program: at such a scale every gradient overflows, and no rank takes a step.
TEST(CaseG6Program, StepsThatOverflowAreSkippedOnEveryRank) {
  for (const auto& mesh : meshes) {
    SCOPED_TRACE(mesh);
    const auto document = passed("dp/ring" + small + gradients + mesh +
                                 " --set train.loss_scale=3e38 --set train.optimizer=adamw");
    EXPECT_EQ(check(document, "f32.skipped_steps")["measured"], "3 of 3");
    EXPECT_EQ(check(document, "f32.skipped_steps")["verdict"], "pass");
  }
}

// Case G8: without masters the tool warns.
TEST(CaseG8Program, Bf16WeightsWithoutMastersAreWarnedOf) {
  const auto bare = passed("zero/zero3_fits --json --set train.masters=false");
  EXPECT_NE(bare["warning"].get<std::string>().find("without f32 masters"), std::string::npos);
  const auto with = passed("zero/zero3_fits --json");
  EXPECT_EQ(with["warning"], "");
  EXPECT_LT(check(bare, "model_state.of_a_rank")["measured"].get<double>(),
            0.8 * check(with, "model_state.of_a_rank")["measured"].get<double>());
}

TEST(Precision, KeysThatWouldDoNothingAreRefused) {
  const auto refused = [](const std::string& words, const std::string& why) {
    const auto ended = run_program("run " + words);
    EXPECT_EQ(ended.exit_code, exit_bad_use);
    EXPECT_NE(ended.err.find(why), std::string::npos) << ended.err;
  };
  refused("zero/zero3_fits --set train.clip=1", "no norm to clip");
  refused("zero/zero3_fits --set train.loss_scale=dynamic", "no loss to scale");
  refused("dp/ring --set train.masters=false", "is for bf16 weights");
  refused("dp/ring --set train.loss_scale=0", "one of none, dynamic");
  refused("dp/ring --set train.loss_scale=fast", "none, dynamic");
  refused("dp/ring --set train.clip=-1", "train.clip");
}

}  // namespace
}  // namespace ringside
