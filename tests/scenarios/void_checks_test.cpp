// Checks that the settings make void: they fail no changed run, and every scenario that runs as it
// is.
#include <gtest/gtest.h>

#include "scenarios/check.hpp"
#include "tests/support/program.hpp"

namespace ringside {
namespace {

using nlohmann::json;

json row(const json& document, const std::string& name) {
  for (const auto& check : document["checks"]) {
    if (check["name"] == name) {
      return check;
    }
  }
  return {{"verdict", "there is no " + name}};
}

TEST(VoidChecks, OneMicroBatchOfAPipelineIsNoFailure) {
  const auto ended = run_program(
      "run pp/1f1b --json --set parallel.microbatches=1 --set 'checks.run=[\"pipeline\"]'");
  EXPECT_EQ(ended.exit_code, 0) << ended.out;
  const auto document = ended.document();
  for (const auto* control : {"control.blocking_sends", "control.time_of_another_schedule"}) {
    EXPECT_EQ(row(document, control)["verdict"], "not_applicable") << control;
    EXPECT_NE(row(document, control)["note"], "") << control;
  }
  EXPECT_EQ(row(document, "pipeline.makespan")["verdict"], "pass");
}

TEST(VoidChecks, TwoMicroBatchesAreEnoughForBothControls) {
  const auto document = run_program(
                            "run pp/1f1b --json --set parallel.microbatches=2 --set train.batch=2 "
                            "--set 'checks.run=[\"pipeline\"]'")
                            .document();
  for (const auto* control : {"control.blocking_sends", "control.time_of_another_schedule"}) {
    EXPECT_EQ(row(document, control)["verdict"], "pass") << row(document, control);
  }
}

TEST(VoidChecks, ALessonThatComputingTooFastMakesVoidSaysSo) {
  const auto ended = run_program(
      "run cp/zigzag --json --set cluster.flops='400 TFLOP/s' --set 'checks.run=[\"pairs\"]'");
  EXPECT_EQ(ended.exit_code, 0) << ended.out;
  const auto time = row(ended.document(), "pairs.time");
  EXPECT_EQ(time["verdict"], "not_applicable") << time;
  EXPECT_NE(time["note"].get<std::string>().find("cluster.flops"), std::string::npos) << time;
}

TEST(VoidChecks, ACheckOfWhichNoRowAppliesFailsAScenarioThatRunsAsItIs) {
  const TemporaryFolder folder;
  std::ofstream(folder / "mine.toml") << "[checks]\nrun = [\"zero_bits\"]\n";
  const auto as_it_is = run_program("run mine.toml --json", {}, folder.path());
  EXPECT_EQ(as_it_is.exit_code, 1);
  const auto fault = row(as_it_is.document(), "checks.run");
  EXPECT_EQ(fault["verdict"], "fail");
  EXPECT_NE(fault["measured"].get<std::string>().find("zero_bits"), std::string::npos) << fault;
  const auto changed = run_program("run mine.toml --json --ranks 2", {}, folder.path());
  EXPECT_EQ(changed.exit_code, 0) << changed.out;
}

TEST(VoidChecks, OnlyALessonsComparisonMayFailInAChangedRun) {
  const auto judged = [](Check check, const std::vector<std::string>& changed) {
    Checks checks{std::move(check)};
    leave_lessons_to_their_scenario(checks, changed);
    return checks.front().verdict;
  };
  const Check longer = beside("time", Time(2), Than::less, Time(1), "", "");
  EXPECT_EQ(judged(longer, {}), CheckVerdict::fail);
  EXPECT_EQ(judged(longer, {"train.batch"}), CheckVerdict::not_applicable);
  EXPECT_EQ(judged(below("f32.gradient", 1, 1e-6), {"train.batch"}), CheckVerdict::fail);
  EXPECT_EQ(judged(beside("time", Time(1), Than::less, Time(2), "", ""), {"train.batch"}),
            CheckVerdict::pass);
}

TEST(VoidChecks, TimesThatLookAlikeArePrintedWithTheDigitsThatDiffer) {
  const auto check = beside("time", Time(351'160'001), Than::less, Time(351'160'002), "", "");
  EXPECT_EQ(check.measured, "351160001 ps");
  EXPECT_EQ(check.gate, "< 351160002 ps");
  EXPECT_EQ(beside("time", Time(351'160'000), Than::less, Time(1'000'000), "", "").measured,
            "351.16 us");
}

}  // namespace
}  // namespace ringside
