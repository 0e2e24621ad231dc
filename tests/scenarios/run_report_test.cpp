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

TEST(RunReport, AChangedRunSaysWhatWasChangedAndNotTheLesson) {
  auto changed = report();
  EXPECT_TRUE(has(report_text(changed), "a headline\nA lesson.\n\n"));
  EXPECT_EQ(report_json(changed)["changed"], nlohmann::json::array());
  changed.changed = {"ranks", "collectives.all_reduce"};
  EXPECT_TRUE(
      has(report_text(changed), "a headline\n(changed: ranks, collectives.all_reduce; the lesson"));
  EXPECT_FALSE(has(report_text(changed), "A lesson."));
  EXPECT_EQ(report_json(changed)["changed"], changed.changed);
}

TEST(RunReport, WhatMovesNothingOnAnyRankIsLeftOut) {
  auto idle = report();
  idle.traffic.push_back({.rank = 0, .operation = "broadcast", .label = "weights", .formula = "0"});
  idle.traffic.back().received_formula = 0;
  EXPECT_FALSE(has(report_text(idle), "broadcast"));
  EXPECT_EQ(report_json(idle)["traffic"][0]["compared"].size(), 2U);
  idle.traffic.push_back(idle.traffic.back());
  idle.traffic.back().rank = 1;
  idle.traffic.back().sent = 4;  // one that should move nothing does
  EXPECT_TRUE(has(report_text(idle), "broadcast"));
}

TEST(RunReport, ARunThatEndedInAnErrorHasNoTimes) {
  auto ended = report();
  EXPECT_TRUE(has(report_text(ended), "time: modelled 0 ps")) << "the control";
  ended.job.ranks.clear();
  EXPECT_TRUE(has(report_text(ended), "time: none: the run ended before it had a result"));
  EXPECT_TRUE(report_json(ended)["time"].is_null());
}

TEST(RunReport, ABenchWithoutLossesHasNoLineOfThem) {
  auto bench = report();
  bench.first_sample = "some words";
  EXPECT_FALSE(has(report_text(bench), "loss:"));
  bench.losses = {1.5};
  EXPECT_TRUE(has(report_text(bench), "loss: 1.500000\n"));
}

TEST(RunReport, OfALongNoteTheTextHasTheFirstSentence) {
  auto made = report();
  made.checks.push_back(holds("expect", true, "oom", "oom", "it needs 1.3 GB. Held now: all\nx"));
  EXPECT_TRUE(has(report_text(made), "pass  (it needs 1.3 GB. …)\n"));
  EXPECT_EQ(report_json(made)["checks"][0]["note"], "it needs 1.3 GB. Held now: all\nx");
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
