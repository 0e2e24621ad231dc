// The numbers that lessons state are those that their runs measure, in both languages.
#include <gtest/gtest.h>

#include "scenarios/scenario_file.hpp"
#include "tests/scenarios/refusal.hpp"
#include "tests/support/program.hpp"

namespace ringside {
namespace {

using Json = nlohmann::json;

void expect_said(const std::string& scenario, const std::string& number) {
  const LessonText lesson = load_scenario(find_scenario(scenario)).lesson;
  EXPECT_TRUE(has(lesson.en, number)) << scenario << ": " << number;
  EXPECT_TRUE(has(lesson.zh, number)) << scenario << ": " << number;
}

Json run(const std::string& scenario, const std::string& more = {}) {
  const Ended ended = run_program("run " + scenario + " --json --log summary" + more);
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  return ended.document();
}

Json check_of(const Json& document, const std::string& name) {
  for (const Json& check : document["checks"]) {
    if (check["name"] == name) {
      return check;
    }
  }
  ADD_FAILURE() << "no check " << name;
  return {{"measured", ""}, {"note", ""}, {"verdict", ""}};
}

// "139 ms", "41.5 ms": as a lesson says it, from picoseconds.
std::string milliseconds(const Json& picoseconds, int decimals) {
  std::string text(32, '\0');
  const double value =
      std::stod(picoseconds.is_string() ? picoseconds.get<std::string>() : picoseconds.dump());
  text.resize(static_cast<std::size_t>(
      std::snprintf(text.data(), text.size(), "%.*f ms", decimals, value / 1e9)));
  return text;
}

TEST(LessonNumbers, LargeBetweenMachinesSomeStaysExposedWhenBackwardIsAsLong) {
  const Json document = run("dp/anchor_ib");
  expect_said("dp/anchor_ib", "7,590");
  EXPECT_EQ(check_of(document, "exposed.tokens_to_hide")["measured"], 7590);
  const Json left = check_of(document, "exposed.left_at_that_length");
  EXPECT_EQ(left["verdict"], "pass");
  EXPECT_EQ(milliseconds(left["measured"], 0), "139 ms");
  expect_said("dp/anchor_ib", "139 ms");
}

TEST(LessonNumbers, LargeInsideAMachineMoreThanTheLastBucketStaysExposed) {
  const Json time = check_of(run("dp/anchor_nvlink"), "exposed.time");
  EXPECT_EQ(milliseconds(time["measured"], 1), "41.5 ms");
  EXPECT_TRUE(has(time["note"], "27.812 ms of it is the last bucket")) << time;
  expect_said("dp/anchor_nvlink", "41.5 ms");
  expect_said("dp/anchor_nvlink", "27.8 ms");
}

TEST(LessonNumbers, LargeOfTensorParallelismDataParallelismAloneHoldsTheWholeModel) {
  const Json state = check_of(run("tp/anchor"), "model_state.of_a_rank");
  EXPECT_TRUE(has(state["measured"].dump(), "68303860480")) << state;
  EXPECT_TRUE(has(state["note"], "data parallelism alone would hold 444502847232")) << state;
  const Json cut = check_of(run("zero/zero3_fits"), "model_state.of_a_rank");
  EXPECT_TRUE(has(cut["note"], "data parallelism alone would hold 444502847232")) << cut;
}

TEST(LessonNumbers, AcrossMachinesBandwidthDecides) {
  const Json document = run("tp/across_nodes");
  EXPECT_TRUE(has(check_of(document, "across_nodes.time")["note"], "3.2 times as long"));
  const Json even = check_of(document, "across_nodes.by_bandwidth");
  EXPECT_EQ(even["verdict"], "pass");
  EXPECT_TRUE(has(even["note"], "3.2 times as long")) << even;
  expect_said("tp/across_nodes", "3.2");
  expect_said("tp/across_nodes", "50 GB/s");
}

// The control: with the usual latencies they decide, and the row says so.
TEST(LessonNumbers, WhereLatencyDecidesTheRowOfBandwidthDoesNotApply) {
  const Json document = run("tp/across_nodes",
                            " --set links.nvlink.latency='1 us' --set links.ib.latency='5 us'"
                            " --set 'checks.run=[\"across_nodes\"]'");
  const Json even = check_of(document, "across_nodes.by_bandwidth");
  EXPECT_EQ(even["verdict"], "not_applicable");
  EXPECT_TRUE(has(even["note"], "1.2 times as long, so that latency decides here")) << even;
}

TEST(LessonNumbers, LargeAllExpertsOnACardAreTheChaptersTerabytes) {
  const Json document = run("ep/all_experts_everywhere");
  EXPECT_EQ(check_of(document, "routed_experts.by_formula")["measured"], "1307817541632");
  EXPECT_EQ(check_of(document, "model_state.by_formula")["measured"], "10922183557120");
  expect_said("ep/all_experts_everywhere", "1.31 TB");
  expect_said("ep/all_experts_everywhere", "653,908,770,816");
}

}  // namespace
}  // namespace ringside
