// `ringside schedule` as a user meets it: chart, figures, JSON, files, comparison, refusals.
#include <gtest/gtest.h>

#include <regex>

#include "scenarios/exit_codes.hpp"
#include "scenarios/schedule_experiments.hpp"
#include "scenarios/schedule_gantt.hpp"
#include "tests/scenarios/refusal.hpp"
#include "tests/support/program.hpp"

namespace ringside {
namespace {

TEST(ScheduleVerb, ChartAndFiguresAreWhatIsDrawnByHand) {
  const auto ended = run_program("schedule 1f1b --stages 3 --microbatches 4");
  EXPECT_EQ(ended.exit_code, exit_ok) << ended.err;
  EXPECT_EQ(ended.err, "");
  EXPECT_TRUE(has(ended.out, "1f1b: 3 stages on 3 devices, 4 micro-batches\n"));
  EXPECT_TRUE(has(ended.out, "costs: F = 1, I = 1, W = 1, B = I + W = 2\n"));
  EXPECT_TRUE(has(ended.out, R"(
  0 F0 F1 F2 .  .  .  .  B0--- F3 B1--- .  B2--- .  B3---
  1 .  F0 F1 .  .  B0--- F2 B1--- F3 B2--- .  B3--- .  .
  2 .  .  F0 B0--- F1 B1--- F2 B2--- F3 B3--- .  .  .  .
)")) << ended.out;
  EXPECT_TRUE(has(ended.out, "makespan             18 = busy 12 + bubble 6\n"));
  EXPECT_TRUE(has(ended.out, "bubble over ideal    1/2 = 50.0 %   bubble / busy\n"));
  EXPECT_TRUE(has(ended.out, "bubble over total    1/3 = 33.3 %   bubble / makespan\n"));
  EXPECT_TRUE(
      has(ended.out, "formula              (p-1)(F+B): 6, exact for all costs; as timed\n"));
  EXPECT_TRUE(has(ended.out, "B is the whole backward, I + W."));
}

TEST(ScheduleVerb, JsonHasNumbersAndExactStrings) {
  const auto json =
      run_program("schedule interleaved --stages 2 --microbatches 2 --chunks 2 --json").document();
  EXPECT_EQ(json["verb"], "schedule");
  EXPECT_EQ(json["verdict"], "pass");
  EXPECT_EQ(json["makespan"], 7.5);
  EXPECT_EQ(json["makespan_exact"], "15/2");
  EXPECT_EQ(json["busy"], 6);
  EXPECT_EQ(json["bubble_exact"], "3/2");
  EXPECT_EQ(json["bubble_inside_device_exact"], "3/2");
  EXPECT_EQ(json["bubble_over_ideal_exact"], "1/4");
  EXPECT_EQ(json["bubble_over_total_exact"], "1/5");
  EXPECT_EQ(json["bubble_formula"], 1.5);
  EXPECT_EQ(json["bubble_formula_exact"], "3/2");
  EXPECT_EQ(json["formula_holds"], true);
  EXPECT_EQ(json["peak_in_flight"]["freed_at_I"], (std::vector<int>{4, 4}));
  EXPECT_EQ(json["peak_in_flight"]["freed_at_W"], (std::vector<int>{4, 4}));
  EXPECT_EQ(json["stages_on_device"], (std::vector<std::vector<int>>{{0, 2}, {1, 3}}));
  EXPECT_EQ(json["actions"][1][0]["action"], "1F0");
  EXPECT_EQ(json["actions"][1][0]["start_exact"], "1/2");
  EXPECT_EQ(json["actions"][1].size(), 8U);
}

TEST(ScheduleVerb, SaysWhereAFormulaDoesNotHold) {
  const std::string arguments = "schedule dualpipe --stages 4 --microbatches 8 --costs F=1,I=2,W=1";
  EXPECT_TRUE(
      has(run_program(arguments).out, "F&B = F+B: 4, exact for F = I and W <= F; timed 3\n"));
  EXPECT_EQ(run_program(arguments + " --json").document()["formula_holds"], false);
}

TEST(ScheduleVerb, CostsMayBeFractionsAndSendsTakeTime) {
  const auto json = run_program(
                        "schedule 1f1b --stages 2 --microbatches 1 --json --costs "
                        "F=1/2,I=0.25,W=0.25,send=1/3")
                        .document();
  EXPECT_EQ(json["makespan_exact"], "8/3");
  EXPECT_EQ(json["costs"]["B"], "1/2");
}

TEST(ScheduleVerb, AFileIsTimedLikeWhatItWasWrittenFrom) {
  const TemporaryFolder folder;
  const auto made = run_program("schedule zb_h1 --stages 3 --microbatches 5 --json --csv z.csv", "",
                                folder.path())
                        .document();
  auto read = run_program("schedule z.csv --json", "", folder.path()).document();
  for (const auto* key : {"makespan", "bubble", "peak_in_flight", "actions"}) {
    EXPECT_EQ(read[key], made[key]) << key;
  }
  EXPECT_TRUE(read["bubble_formula"].is_null());
  run_program("schedule interleaved --stages 2 --microbatches 4 --csv i.csv", "", folder.path());
  read = run_program("schedule i.csv --chunks 2 --json", "", folder.path()).document();
  EXPECT_EQ(read["makespan_exact"], "27/2");
}

TEST(ScheduleVerb, AFileThatCannotRunIsRefusedWithItsCycle) {
  const TemporaryFolder folder;
  std::ofstream(folder / "bad.csv") << "0F0,0B0,0F1,0B1\n1F1,1F0,1B0,1B1\n";
  const auto ended = run_program("schedule bad.csv", "", folder.path());
  EXPECT_EQ(ended.exit_code, exit_bad_use);
  EXPECT_EQ(ended.out, "");
  EXPECT_TRUE(has(ended.err,
                  "schedule bad.csv: it waits for itself and would never end: 0B0 on "
                  "device 0 needs the result of 1B0 on device 1"));
  const auto json = run_program("schedule bad.csv --json", "", folder.path()).document();
  EXPECT_EQ(json["verdict"], "refused");
}

TEST(ScheduleVerb, DrawsABoxForEachAction) {
  const TemporaryFolder folder;
  const auto ended =
      run_program("schedule dualpipe --stages 4 --microbatches 8 --svg d.svg", "", folder.path());
  EXPECT_TRUE(has(ended.out, "drawing: d.svg\n"));
  const auto drawing = content(folder / "d.svg");
  const std::regex box("<rect class=\"box ");
  const auto boxes = std::distance(std::sregex_iterator(drawing.begin(), drawing.end(), box), {});
  const auto json = run_program("schedule dualpipe --stages 4 --microbatches 8 --json").document();
  std::size_t actions = 0;
  for (const auto& device : json["actions"]) {
    actions += device.size();
  }
  EXPECT_EQ(static_cast<std::size_t>(boxes), actions);
  EXPECT_TRUE(has(drawing, "bubble over ideal (bubble / busy)"));
  EXPECT_TRUE(has(drawing, "bubble over total (bubble / makespan)"));
}

// A line that is too narrow for names has letters, in panels; where there would be too many of
// those, it samples.
TEST(ScheduleVerb, ANarrowChartHasLetters) {
  const TimedSchedule plain = timed("1f1b", {3, 4, 1}, {});
  EXPECT_TRUE(has(gantt_of(plain, {.columns = 44}), "\n  1 .FF..BBFBBFBB.BB..\n"));
  const TimedSchedule fold = timed("dualpipev", {4, 4, 1}, {});
  EXPECT_TRUE(has(gantt_of(fold, {.columns = 44}), "small letters: other stages"));
  const TimedSchedule wide = timed("gpipe", {2, 16, 1}, {});  // 51 units
  const auto chart = gantt_of(wide, {.columns = 44});
  EXPECT_TRUE(has(chart, "\n  1 ." + std::string(16, 'F') + std::string(23, 'B') + "\n")) << chart;
  EXPECT_TRUE(has(chart, "from 40 on\n  0 " + std::string(11, 'B') + "\n")) << chart;
  const TimedSchedule wider = timed("gpipe", {2, 64, 1}, {});  // 195 units
  const auto sampled = gantt_of(wider, {.columns = 44});
  EXPECT_TRUE(has(sampled, "a column takes 5; it shows what its middle falls in")) << sampled;
  EXPECT_TRUE(has(sampled, "\n  1 " + std::string(13, 'F') + std::string(26, 'B') + "\n"))
      << sampled;
}

TEST(ScheduleVerb, ColoursAreForTerminals) {
  const TimedSchedule plain = timed("1f1b", {2, 2, 1}, {});
  EXPECT_FALSE(has(gantt_of(plain, {.colour = false}), "\033["));
  EXPECT_TRUE(has(gantt_of(plain, {.colour = true}), "\033[34mF0\033[0m "));
  EXPECT_FALSE(has(run_program("schedule 1f1b", "TERM=xterm").out, "\033["));
}

// F = I = W, so B = 2F.
TEST(CaseI10, InterleavingBesideBothDirections) {
  const auto ended = run_program("schedule compare --stages 8 --microbatches 16");
  EXPECT_EQ(ended.exit_code, exit_ok);
  EXPECT_TRUE(has(ended.out, "over ideal: bubble / busy; over total: bubble / makespan."));
  const auto json = run_program("schedule compare --stages 8 --microbatches 16 --json").document();

  struct Row {
    std::string name, share, held;
    int copies;
  };

  const Row expected[] = {{"naive", "7/8", "1", 1},           {"gpipe", "7/23", "16", 1},
                          {"1f1b", "7/23", "8", 1},           {"interleaved", "7/23", "8", 1},
                          {"interleaved", "7/39", "23/2", 1}, {"interleaved", "7/55", "31/3", 1},
                          {"interleaved", "7/71", "39/4", 1}, {"zb_h1", "7/55", "8", 1},
                          {"zb_h2", "7/55", "15", 1},         {"dualpipe", "1/9", "9", 2},
                          {"dualpipev", "1/17", "9", 1}};
  ASSERT_EQ(json["schedules"].size(), std::size(expected));
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    const auto& row = json["schedules"][i];
    SCOPED_TRACE(expected[i].name + " " + std::to_string(i));
    EXPECT_EQ(row["schedule"], expected[i].name);
    EXPECT_EQ(row["bubble_over_total_exact"], expected[i].share);
    EXPECT_GE(row["bubble_over_total"], 0.0);
    EXPECT_LT(row["bubble_over_total"], 1.0);
    EXPECT_EQ(row["peak_stages_freed_at_W_exact"], expected[i].held);
    EXPECT_EQ(row["parameter_copies"], expected[i].copies);
    EXPECT_EQ(row["formula_holds"], true);
  }
}

TEST(ScheduleVerb, AComparisonSaysWhyOneIsLeftOut) {
  const auto ended = run_program("schedule compare --stages 3 --microbatches 7 --chunks 2");
  EXPECT_EQ(ended.exit_code, exit_ok);
  EXPECT_TRUE(has(ended.out,
                  "left out:\n  interleaved v=1: interleaved takes micro-batches in "
                  "groups of as many as there are devices, and 7 is no multiple of 3: "
                  "take 6 or 9 micro-batches\n"));
  EXPECT_TRUE(has(ended.out, "3 stages are an odd number"));
}

TEST(ScheduleVerb, ListsWhatThereIs) {
  const auto ended = run_program("schedule --list");
  EXPECT_EQ(ended.exit_code, exit_ok);
  for (const auto& name : schedule_names()) {
    EXPECT_TRUE(has("\n" + ended.out, "\n  " + name + " ")) << name;
  }
  EXPECT_EQ(run_program("schedule --list --json").document()["schedules"].size(), 8U);
}

TEST(ScheduleFigures, HoldForTheirSchedulesAndNotForOthers) {
  EXPECT_TRUE(over_ideal_is_plain("gpipe"));
  EXPECT_TRUE(over_ideal_is_plain("1f1b"));
  EXPECT_FALSE(over_ideal_is_plain("naive"));
  EXPECT_TRUE(over_total_is_plain("gpipe"));
  EXPECT_FALSE(over_total_is_plain("naive"));
  EXPECT_TRUE(interleaved_divides_by_v("1f1b"));
  EXPECT_FALSE(interleaved_divides_by_v("naive"));
}

TEST(ScheduleVerb, RefusalsSayWhatWouldBeRight) {
  const std::pair<std::string, std::string> cases[] = {
      {"schedule", "schedule needs a schedule: naive, gpipe"},
      {"schedule 1f1", "there is no schedule 1f1; did you mean 1f1b?"},
      {"schedule no.csv", "no.csv: cannot be read: No such file or directory"},
      {"schedule 1f1b --stages 0", "--stages 0: must be"},
      {"schedule 1f1b --chunks 2", "has no chunks to choose: got 2"},
      {"schedule 1f1b --costs F=1,B=2", "there is no cost B: B is I + W, so give I and W"},
      {"schedule 1f1b --costs F=-1", "--costs F=-1: F must be a number that is not negative"},
      {"schedule 1f1b --costs F=0,I=0,W=0", "let one cost something"},
      {"schedule 1f1b --costs F", "\"F\" is no cost: write F=1,I=1,W=1"},
      {"schedule 1f1b --costs F=1,F=2", "--costs F=1,F=2: F is there twice: give it once"},
      {"schedule 1f1b --csv a.x --svg ./a.x", "--csv a.x: is the file of --svg, too"},
      {"schedule 1f1b --costs F=1/0", "denominator 0"},
      {"schedule gpipe --in-flight 7", "the limit is 7"},
      {"schedule compare --svg x.svg", "--svg: compare shows many schedules; take one for that"},
      {"schedule my.csv --stages 4", "--stages: my.csv says how many there are: leave it out"},
      {"schedule dualpipe --stages 4 --microbatches 7", "at least 2p = 8 micro-batches"}};
  for (const auto& [arguments, message] : cases) {
    const auto ended = run_program(arguments);
    EXPECT_EQ(ended.exit_code, exit_bad_use) << arguments;
    EXPECT_TRUE(has(ended.err, message)) << arguments << ": " << ended.err;
  }
}

}  // namespace
}  // namespace ringside
