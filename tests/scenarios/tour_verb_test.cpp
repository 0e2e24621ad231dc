// `ringside tour`: lessons are runs, and a claim that a run does not bear out fails.
#include <gtest/gtest.h>

#include <set>

#include "scenarios/exit_codes.hpp"
#include "scenarios/tour_walk.hpp"
#include "tests/scenarios/refusal.hpp"
#include "tests/support/program.hpp"

namespace ringside {
namespace {

TourRun column_row(TourClaim claim) {
  return {.role = {}, .scenario = "tp/column_row", .set = {}, .claims = {claim}};
}

nlohmann::json column_row_document() {
  return run_program("run tp/column_row --json").document();
}

bool holds(TourClaim claim, const nlohmann::json& document) {
  return judged(column_row(claim), document, 1).holds();
}

TEST(TourVerb, AClaimIsSetBesideTheRun) {
  const auto document = column_row_document();
  EXPECT_TRUE(holds({"split.difference", "< 1e-12", {}}, document));
  EXPECT_TRUE(holds({"split.bytes_sent", "320", {}}, document));
  EXPECT_TRUE(holds({"step.sent", "160 B", {}}, document));  // 320 bytes of two ranks
}

TEST(TourVerb, AWrongClaimIsCaught) {
  const auto document = column_row_document();
  EXPECT_FALSE(holds({"split.difference", "< 1e-17", {}}, document));
  EXPECT_FALSE(holds({"split.bytes_sent", "321", {}}, document));
  EXPECT_FALSE(holds({"split.bytes_sent", "32", {}}, document));
  EXPECT_FALSE(holds({"step.sent", "161 B", {}}, document));
  const auto missing = judged(column_row({"split.nothing", "320", {}}), document, 1);
  EXPECT_FALSE(missing.holds());
  EXPECT_EQ(missing.claims.front().measured, "the run has no check split.nothing");
}

TEST(TourVerb, ARunThatFailsItsOwnChecksFailsTheLesson) {
  auto document = column_row_document();
  document["verdict"] = "fail";
  EXPECT_FALSE(holds({"split.bytes_sent", "320", {}}, document));
  const nlohmann::json lost{{"verb", "run"}, {"verdict", "lost"}};
  EXPECT_FALSE(holds({"split.bytes_sent", "320", {}}, lost));
}

// Two ranks of two steps; what comes once, before training, is no step's.
TEST(TourVerb, TrafficIsThatOfOneStep) {
  const auto sum = [](const char* group, const char* operation, int sent, int received) {
    return nlohmann::json{{"group", group},
                          {"operation", operation},
                          {"sent_bytes", sent},
                          {"received_bytes", received}};
  };
  const nlohmann::json document{
      {"traffic",
       {{{"sums", {sum("dp", "broadcast", 99, 99), sum("dp", "all_reduce", 40, 60)}}},
        {{"sums", {sum("tp.kv", "all_reduce", 8, 0), sum("dp", "all_reduce", 20, 20)}}}}}};
  const StepTraffic traffic = step_traffic(document, 2);
  EXPECT_DOUBLE_EQ(traffic.sent, 17);
  EXPECT_DOUBLE_EQ(traffic.received, 30);
  EXPECT_DOUBLE_EQ(traffic.sent_in.at("dp"), 15);
  EXPECT_DOUBLE_EQ(traffic.sent_in.at("tp"), 2);
}

// Every lesson, by its runs. Figures of the first two are the chapter's own (DP07, DP08, ZR05).
TEST(TourVerb, LargeEveryLessonShowsWhatItClaims) {
  const TemporaryFolder folder;
  const auto ended = run_program("tour --json --out walked", "", folder.path());
  EXPECT_EQ(ended.exit_code, exit_ok) << ended.err;
  EXPECT_EQ(ended.err, "");
  const auto document = ended.document();
  EXPECT_EQ(document["verb"], "tour");
  EXPECT_EQ(document["verdict"], "pass");
  ASSERT_EQ(document["lessons"].size(), tour_lessons().size());
  for (const auto& lesson : document["lessons"]) {
    EXPECT_GE(lesson["runs"].size(), 2U) << lesson["name"];
    for (const auto& run : lesson["runs"]) {
      EXPECT_FALSE(run["claims"].empty());
      EXPECT_EQ(run["verdict"], "pass") << run.dump(2);
      const std::string kept = run["run_folder"];
      EXPECT_TRUE(std::filesystem::exists(kept + "/summary.json")) << kept;
    }
  }
  const auto step = [&](std::size_t lesson, std::size_t run) {
    return document["lessons"][lesson]["runs"][run]["step_traffic"];
  };
  const double counts = 64;  // bytes: losses, tokens and norms are all-reduced, too
  EXPECT_NEAR(step(0, 0)["received_most_bytes"], 388'939'991'328, 8 * counts);
  EXPECT_NEAR(step(0, 1)["sent_mean_bytes"], 97'234'997'832, counts);
  EXPECT_NEAR(step(1, 1)["sent_mean_bytes"], 145'852'496'748, counts);
}

TEST(TourVerb, OneLessonByNumberOrName) {
  for (const auto* arguments : {"tour --lesson 3", "tour --lesson tp --zh"}) {
    const TemporaryFolder folder;
    const auto ended = run_program(arguments, "", folder.path());
    EXPECT_EQ(ended.exit_code, exit_ok) << ended.err;
    EXPECT_TRUE(ended.out.starts_with("3 tp: ")) << ended.out;
    EXPECT_TRUE(has(ended.out, "ringside run tp/row_first\n      0.649  ")) << ended.out;
    EXPECT_FALSE(has(ended.out, "pp/naive"));
    EXPECT_TRUE(has(ended.out, "verdict: pass\n"));
  }
}

TEST(TourVerb, ListsItsLessonsAndRunsNothing) {
  const TemporaryFolder folder;
  const auto ended = run_program("tour --list", "", folder.path());
  EXPECT_EQ(ended.exit_code, exit_ok);
  EXPECT_TRUE(has(ended.out, "  the plain way: ringside run pp/naive --set "));
  EXPECT_FALSE(std::filesystem::exists(folder / "runs"));
  const auto json = run_program("tour --list --json").document();
  EXPECT_EQ(json["lessons"].size(), tour_lessons().size());
}

TEST(TourVerb, RefusalsSayWhatWouldBeRight) {
  const auto ended = run_program("tour --lesson zer");
  EXPECT_EQ(ended.exit_code, exit_bad_use);
  EXPECT_TRUE(has(ended.err, "--lesson zer: there is no such lesson; did you mean zero?"));
  EXPECT_EQ(run_program("tour --lesson 8").exit_code, exit_bad_use);
  EXPECT_EQ(run_program("tour --lesson 0").exit_code, exit_bad_use);
}

}  // namespace
}  // namespace ringside
