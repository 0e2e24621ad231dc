// Planted faults: each is refused by its own rule, and the schedule without it is not.
#include "parallel/pipeline/validate.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "parallel/pipeline/generators.hpp"
#include "parallel/pipeline/schedule_csv.hpp"
#include "runtime/errors.hpp"

namespace ringside {
namespace {

std::string refusal(const Schedule& schedule, const ScheduleLimits& limits = {}) {
  try {
    require_valid(schedule, limits);
  } catch (const BadUse& error) {
    return error.what();
  }
  return "";
}

std::string refusal(std::string_view csv) {
  return refusal(parse_schedule_csv(csv, "s"));
}

TEST(Validate, GoodOnesPass) {
  EXPECT_EQ(refusal("0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n"), "");
  EXPECT_EQ(refusal("0F0,0F1,0I0,0I1,0W1,0W0\n1F0,1B0,1F1,1B1\n"), "");
}

TEST(Validate, EachOnce) {
  EXPECT_EQ(refusal("0F0,0F0,0B0\n1F0,1B0\n"),
            "schedule s: 0F0 is there twice, on device 0: once is right");
  EXPECT_EQ(refusal("0F0,0B0,0F1,0B1\n0F1,0B1\n"),
            "schedule s: 0F1 is there twice, on devices 0 and 1: once is right");
  EXPECT_EQ(refusal("0F0,0B0,0F1,0B1\n1F1,1B1\n"),
            "schedule s: stage 1 does no F for micro-batch 0 (micro-batches are 0 to 1)");
  EXPECT_EQ(refusal("0F0,0B0,0F1,0B1\n1F0,1B0,1F1\n"),
            "schedule s: stage 1 does no B, nor I and W, for micro-batch 1 (micro-batches are 0 to "
            "1)");
  EXPECT_EQ(refusal("0F0,0I0\n"),
            "schedule s: stage 0 does no W for micro-batch 0 (micro-batches are 0 to 0)");
  EXPECT_EQ(refusal("0F0,0B0,0I0,0W0\n"),
            "schedule s: 0W0 is there beside 0B0, which contains it: take B, or I and W");
  EXPECT_EQ(refusal("0F0,0B0,0I0\n"), "schedule s: 0B0 is there beside 0I0: take B, or I and W");
  EXPECT_EQ(refusal("0F0,0B0\n\n1F0,1B0\n"), "schedule s: device 1 has nothing to do");
  EXPECT_EQ(refusal(""),
            "schedule s: it needs at least 1 device, 1 stage, 1 micro-batch and 1 chunk: has 0, 0, "
            "0 and 1");
}

TEST(Validate, OrderAndPlaceOnADevice) {
  EXPECT_EQ(refusal("0B0,0F0\n"), "schedule s: 0B0 on device 0 has no 0F0 before it there");
  EXPECT_EQ(refusal("0F0,0W0,0I0\n"), "schedule s: 0W0 on device 0 has no 0I0 before it there");
  EXPECT_EQ(refusal("0F0\n0B0\n"),
            "schedule s: 0B0 on device 1 has no 0F0 before it there (it is on device 0)");
  EXPECT_EQ(refusal("0F0,0I0\n0W0\n"),
            "schedule s: 0W0 on device 1 has no 0I0 before it there (it is on device 0)");
  Schedule outside = make_schedule("1f1b", {2, 2, 1});
  outside.microbatches = 1;
  EXPECT_EQ(refusal(outside),
            "schedule 1f1b: 0F1 on device 0 is outside: stages are 0 to 1, micro-batches 0 to 0");
}

TEST(Validate, Pairs) {
  EXPECT_EQ(refusal("0F0,(0F1;0B0)OVERLAP_F_B,0B1\n1F0,1B0,1F1,1B1\n"), "");
  EXPECT_EQ(refusal("0F0,(0B0;0F1)OVERLAP_F_B,0B1\n1F0,1B0,1F1,1B1\n"),
            "schedule s: 0B0 on device 0 is to be computed together with 0F1: only an F can be, "
            "with a B or an I after it");
  EXPECT_EQ(refusal("(0F0;0B0)OVERLAP_F_B\n"),
            "schedule s: 0F0 and 0B0 on device 0 cannot be computed together: the second needs the "
            "first");
  Schedule open = make_schedule("1f1b", {1, 1, 1});
  open.devices[0].back().with_next = true;
  EXPECT_NE(refusal(open), "");
}

TEST(Validate, InFlight) {
  const Schedule schedule = make_schedule("1f1b", {4, 8, 1});
  EXPECT_EQ(refusal(schedule, {.in_flight = 4}), "");
  EXPECT_EQ(refusal(schedule, {.in_flight = 3}),
            "schedule 1f1b: at 0F3 device 0 holds the activations of 4 stages and micro-batches, "
            "and the limit is 3");
  EXPECT_NE(refusal(make_schedule("gpipe", {4, 8, 1}), {.in_flight = 7}), "");
}

TEST(Validate, ShowsTheCycle) {
  // Stage 0 wants a gradient before it has sent what that needs.
  EXPECT_EQ(
      refusal("0F0,0B0,0F1,0B1\n1F1,1F0,1B0,1B1\n"),
      "schedule s: it waits for itself and would never end: 0B0 on device 0 needs the result "
      "of 1B0 on device 1; 1B0 on device 1 comes after 1F0 on device 1; 1F0 on device 1 comes "
      "after 1F1 on device 1; 1F1 on device 1 needs the result of 0F1 on device 0; 0F1 on "
      "device 0 comes after 0B0 on device 0");
}

// Without the sends it could run: device 1 computes both gradients at once and device 0 takes them
// in the other order. With one send open at a time, the second gradient leaves only when the first
// one is taken, and device 0 wants the second first.
TEST(Validate, ShowsTheCycleOfGradientSends) {
  EXPECT_EQ(refusal("0F0,0F1,0B0,0B1\n1F0,1F1,1B0,1B1\n"), "");
  const auto text = refusal("0F0,0F1,0B1,0B0\n1F0,1F1,1B0,1B1\n");
  EXPECT_TRUE(text.find("1B1 on device 1 can send its gradient only when the last one is taken by "
                        "0B0 on device 0") != std::string::npos)
      << text;
  EXPECT_TRUE(text.find("0B0 on device 0 comes after 0B1 on device 0") != std::string::npos)
      << text;
  EXPECT_TRUE(text.find("0B1 on device 0 needs the result of 1B1 on device 1") != std::string::npos)
      << text;
}

// A cycle between two that are computed together: each has an input that the other's end gives.
TEST(Validate, ShowsTheCycleOfPairs) {
  const std::string_view apart = "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n";
  EXPECT_EQ(refusal(apart), "");
  const auto text = refusal("0F0,(0F1;0B0)OVERLAP_F_B,0B1\n1F0,1F1,1B0,1B1\n");
  EXPECT_TRUE(text.find("0F1&0B0 on device 0 needs the result of 1B0 on device 1") !=
              std::string::npos)
      << text;
}

TEST(Validate, EveryGeneratedScheduleIsFree) {
  for (const auto& row : schedule_table()) {
    for (const int p : {2, 4, 8}) {
      EXPECT_EQ(refusal(make_schedule(row.name, {p, 4 * p, row.name == "interleaved" ? 4 : 1})), "")
          << row.name << " " << p;
    }
  }
}

}  // namespace
}  // namespace ringside
