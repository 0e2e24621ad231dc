// What a run shows, from figures made up here.
#include "scenarios/run_report.hpp"

#include <gtest/gtest.h>

#include "tests/scenarios/refusal.hpp"

namespace ringside {
namespace {

// One rank, with an all-reduce of which no formula says what is received.
RunReport report() {
  RunReport made;
  made.headline = "a headline";
  made.settings.lesson.en = "A lesson.";
  made.traffic = {{.rank = 0,
                   .operation = "all_reduce",
                   .label = "gradients",
                   .formula = "claim of mine",
                   .sent = 12,
                   .sent_formula = 12,
                   .received = 7,
                   .received_formula = std::nullopt}};
  made.job.ranks.resize(1);
  made.job.ranks[0].report.sums.resize(1);
  return made;
}

TEST(RunReport, AFigureWithoutAFormulaIsADashAndNull) {
  const auto text = report_text(report());
  EXPECT_TRUE(has(text, " 12             12              7              -  claim of mine\n"))
      << text;
  const auto row = report_json(report())["traffic"][0]["compared"][0];
  EXPECT_EQ(row["received"]["counted"], 7);
  EXPECT_TRUE(row["received"].contains("formula") && row["received"]["formula"].is_null()) << row;
  EXPECT_EQ(row["sent"]["formula"], 12);

  auto known = report();
  known.traffic[0].received_formula = 7;
  EXPECT_TRUE(has(report_text(known), " 7              7  claim of mine\n"));
  EXPECT_EQ(report_json(known)["traffic"][0]["compared"][0]["received"]["formula"], 7);
}

TEST(RunReport, WhatWasChangedStandsBeneathTheLesson) {
  auto changed = report();
  EXPECT_TRUE(has(report_text(changed), "a headline\nA lesson.\n\n"));
  EXPECT_EQ(report_json(changed)["changed"], nlohmann::json::array());
  changed.changed = {"ranks", "collectives.all_reduce"};
  EXPECT_TRUE(has(report_text(changed),
                  "a headline\nA lesson.\n(changed: ranks, collectives.all_reduce)\n\n"));
  EXPECT_EQ(report_json(changed)["changed"], changed.changed);
}

TEST(RunReport, ARunThatKeepsNothingHasNoSums) {
  auto kept = report();
  for (const auto level : {LogLevel::full, LogLevel::summary, LogLevel::none}) {
    kept.log = level;
    EXPECT_EQ(report_json(kept)["traffic"][0]["sums"].size(), level == LogLevel::none ? 0U : 1U);
  }
  EXPECT_EQ(report_json(kept)["log"], "none");
}

}  // namespace
}  // namespace ringside
