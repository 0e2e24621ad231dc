// `ringside parity`: the subset holds, faults are caught, refusals say why, and a row whose gates
// are broken does not hold.
#include <gtest/gtest.h>

#include <set>

#include "scenarios/overrides.hpp"
#include "scenarios/parity_row.hpp"
#include "tests/support/program.hpp"

namespace ringside {
namespace {

using Json = nlohmann::json;

std::size_t count(const Json& document, const std::string& verdict) {
  std::size_t n = 0;
  for (const Json& row : document["rows"]) {
    n += row["verdict"] == verdict;
  }
  return n;
}

TEST(ParityVerb, LargeTheSubsetOfEightRanksHolds) {
  const Ended ended = run_program("parity --json");
  ASSERT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  const Json document = ended.document();
  EXPECT_EQ(document["verb"], "parity");
  EXPECT_EQ(document["verdict"], "pass");
  EXPECT_EQ(document["ranks"], 8);
  EXPECT_EQ(document["full"], false);
  EXPECT_GE(count(document, "pass"), 40U);
  EXPECT_EQ(count(document, "refused"), 0U);
  EXPECT_EQ(count(document, "caught"), 15U);
  for (const Json& row : document["rows"]) {
    EXPECT_EQ(row["verdict"] == "refused", row["loss"].is_null()) << row;
    EXPECT_EQ(row["verdict"] == "pass", row["why"] == "") << row;
    EXPECT_EQ(row["verdict"] == "caught", row["control"] != "") << row;
  }
}

TEST(ParityVerb, ARefusedRowGivesTheRefusalsOwnText) {
  const Ended ended = run_program("parity --ranks 3 --json");
  ASSERT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  const Json document = ended.document();
  for (const Json& row : document["rows"]) {
    const std::string plan = row["plan"];
    const bool heads = plan.starts_with("tp 3");  // of 8
    const bool experts = plan.find("8 experts over ep 3") != std::string::npos;
    EXPECT_EQ(row["verdict"] == "refused", heads || experts) << row;
    if (heads || experts) {
      const char* why = heads ? "heads = 8 cannot be divided over 3"
                              : "experts = 8 cannot be divided over ep = 3";
      EXPECT_NE(row["why"].get<std::string>().find(why), std::string::npos) << row;
    }
  }
  EXPECT_GE(count(document, "refused"), 2U);
}

TEST(ParityVerb, TheTableHasARowAPlanAndAVerdict) {
  const Ended ended = run_program("parity --ranks 2");
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  for (const char* part : {"absolute", "ULP", "tp 2", "cp 2 (ring, zigzag)", "pp 2 (naive)",
                           "dp 2: contribution_lost", "caught", "verdict: pass"}) {
    EXPECT_NE(ended.out.find(part), std::string::npos) << part << "\n" << ended.out;
  }
}

TEST(ParityVerb, RefusesRanksThatItCannotCut) {
  const Ended ended = run_program("parity --ranks 1 --json");
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_EQ(ended.document()["verdict"], "refused");
}

// Negative control of the verdicts themselves.
TEST(ParityRow, AWrongGradientFailsAndAFaultThatTouchesNothingIsMissed) {
  const ParityPlan plan = parity_plans(2, false).front();
  ParityRuns runs;
  EXPECT_EQ(runs.row_of(plan).verdict, ParityVerdict::pass);
  // The fault of context parallelism touches nothing of data parallelism.
  const ParityRow missed = runs.row_of({plan.settings, Fault::kv_hop_skipped, "kv_hop_skipped"});
  EXPECT_EQ(missed.verdict, ParityVerdict::missed);
  EXPECT_FALSE(row_holds(missed));
  const ParityRow wrong = runs.row_of({plan.settings, Fault::contribution_lost});
  EXPECT_EQ(wrong.verdict, ParityVerdict::fail);
  EXPECT_FALSE(row_holds(wrong));
  EXPECT_NE(wrong.why.find("f32.gradient = "), std::string::npos) << wrong.why;
}

// Every mesh once, every stage of ZeRO, schedule and form among them; `full` has each product once.
TEST(ParityPlans, CoverEveryMeshAndEveryChoice) {
  std::set<std::string> meshes;
  std::set<std::string> choices;
  std::set<std::string> names;
  for (const ParityPlan& plan : parity_plans(8, false)) {
    const auto& p = plan.settings.parallel;
    if (plan.fault == Fault::none && plan.settings.model.experts == 0) {
      meshes.insert(std::to_string(p.tp * 1000 + p.cp * 100 + p.pp * 10 + p.dp));
      choices.insert({"zero " + std::to_string(p.zero), p.pp > 1 ? p.schedule : "",
                      p.cp > 1 ? p.cp_form + p.cp_layout : "", p.sp ? "sp" : ""});
    }
  }
  EXPECT_EQ(meshes.size(), 20U) << "3 factors 2 over 4 axes";
  EXPECT_EQ(choices.size(), 4U + 8U + 3U + 1U + 1U);
  std::size_t dense = 0;
  for (const ParityPlan& plan : parity_plans(8, true)) {
    if (plan.fault == Fault::none && plan.settings.model.experts == 0) {
      ++dense;
      names.insert(plan_name(plan.settings));
    }
  }
  EXPECT_EQ(names.size(), dense);
}

}  // namespace
}  // namespace ringside
