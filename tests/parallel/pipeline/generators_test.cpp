// What generators promise beside times: order, placement, and which shapes they take.
#include "parallel/pipeline/generators.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "parallel/pipeline/schedule_csv.hpp"
#include "parallel/pipeline/validate.hpp"
#include "runtime/errors.hpp"

namespace ringside {
namespace {

std::vector<int> count_up(int from, int to) {
  std::vector<int> values(static_cast<std::size_t>(to - from));
  std::iota(values.begin(), values.end(), from);
  return values;
}

std::string refusal(std::string_view name, const PipelineShape& shape) {
  try {
    make_schedule(name, shape);
  } catch (const BadUse& error) {
    return error.what();
  }
  return "";
}

std::string row_of(const Schedule& schedule, std::size_t device) {
  std::string text;
  for (const Action& action : schedule.devices[device]) {
    text += (text.empty() ? "" : " ") + text_of(action) + (action.with_next ? "+" : "");
  }
  return text;
}

TEST(Generators, AddWeightGradientsInAscendingMicroBatches) {
  for (const auto& row : schedule_table()) {
    const int v = row.name == "interleaved" ? 3 : 1;
    const Schedule schedule = make_schedule(row.name, {4, 12, v});
    const StagePlacement placement(schedule);
    for (int s = 0; s < schedule.stages; ++s) {
      const auto& devices = placement.devices_of(s);
      ASSERT_EQ(devices.size(), row.name == "dualpipe" ? 2U : 1U) << row.name;
      for (const int d : devices) {
        const bool first_half = placement.device_of(s, 0) == d;
        const auto expected = devices.size() == 1 ? count_up(0, 12)
                              : first_half        ? count_up(0, 6)
                                                  : count_up(6, 12);
        EXPECT_EQ(weight_gradient_order(schedule, d, s), expected) << row.name << " stage " << s;
      }
    }
    EXPECT_EQ(row.copies, row.name == "dualpipe" ? 2 : 1);
  }
}

TEST(Generators, PlaceStages) {
  const StagePlacement loop(make_schedule("interleaved", {4, 8, 2}));
  EXPECT_EQ(loop.stages_on(1), (std::vector<int>{1, 5}));
  const StagePlacement fold(make_schedule("dualpipev", {8, 8, 1}));
  EXPECT_EQ(fold.stages_on(1), (std::vector<int>{1, 6}));
  EXPECT_EQ(fold.devices_of(6), (std::vector<int>{1}));
  const StagePlacement both(make_schedule("dualpipe", {4, 8, 1}));
  EXPECT_EQ(both.stages_on(1), (std::vector<int>{1, 2}));
  EXPECT_EQ(both.devices_of(1), (std::vector<int>{1, 2}));
  EXPECT_EQ(both.device_of(1, 3), 1);
  EXPECT_EQ(both.device_of(1, 4), 2);
}

TEST(Generators, ListsByHand) {
  EXPECT_EQ(row_of(make_schedule("naive", {2, 2, 1}), 1), "1F0 1B0 1F1 1B1");
  EXPECT_EQ(row_of(make_schedule("gpipe", {2, 2, 1}), 0), "0F0 0F1 0B0 0B1");
  EXPECT_EQ(row_of(make_schedule("1f1b", {3, 4, 1}), 0), "0F0 0F1 0F2 0B0 0F3 0B1 0B2 0B3");
  EXPECT_EQ(row_of(make_schedule("interleaved", {2, 4, 2}), 1),
            "1F0 1F1 3F0 3B0 3F1 3B1 1F2 1B0 1F3 1B1 3F2 3B2 3F3 3B3 1B2 1B3");
  EXPECT_EQ(row_of(make_schedule("zb_h1", {2, 3, 1}), 1), "1F0 1I0 1F1 1I1 1W0 1F2 1I2 1W1 1W2");
  EXPECT_EQ(row_of(make_schedule("zb_h2", {2, 3, 1}), 0), "0F0 0F1 0F2 0I0 0W0 0I1 0W1 0I2 0W2");
}

// Of 4 devices and 10 micro-batches as PyTorch's tests have it (artifacts, dualpipev_4rank_10mb),
// the third device.
TEST(Generators, DualpipevIsPyTorchs) {
  EXPECT_EQ(row_of(make_schedule("dualpipev", {8, 10, 1}), 2),
            "2F0 2F1 2F2 5F0 2F3 5F1 2F4 5F2 5I0 5W0 5F3 2F5+ 5B1 5F4+ 2B0 2F6+ 5B2 5F5+ 2B1 2F7+ "
            "5B3 5F6+ 2B2 2F8+ 5B4 5F7+ 2B3 2F9+ 5B5 5F8+ 2B4 5B6 5F9+ 2B5 5B7 2B6 5B8 2I7 5I9 2I8 "
            "2W7 2I9 5W9 2W8 2W9");
}

TEST(CaseI2, FewerMicroBatchesThanStages) {
  const Rational shares[] = {Rational(3, 4), Rational(3, 5), Rational(1, 2)};
  for (int m = 1; m <= 3; ++m) {
    for (const auto* name : {"gpipe", "1f1b"}) {
      EXPECT_EQ(time_of(make_schedule(name, {4, m, 1})).bubble_over_total(), shares[m - 1]);
    }
    EXPECT_EQ(
        refusal("zb_h1", {4, m, 1}),
        "zb_h1 fills its 4 stages with p = 4 micro-batches before it can drain, and there are " +
            std::to_string(m) + ": take at least 4, or 1f1b");
    EXPECT_EQ(refusal("interleaved", {4, m, 2}),
              "interleaved takes micro-batches in groups of as many as there are devices, and " +
                  std::to_string(m) + " is no multiple of 4: take 4 micro-batches");
  }
  EXPECT_EQ(time_of(make_schedule("1f1b", {8, 1, 1})).bubble_over_total(), Rational(7, 8));
  EXPECT_TRUE(refusal("zb_h2", {4, 6, 1}).find("2p-1 = 7") != std::string::npos);
  EXPECT_EQ(refusal("zb_h2", {4, 7, 1}), "");
}

TEST(CaseI3, InterleavedNeedsAMultipleOfTheDevices) {
  const ScheduleTiming timing = time_of(make_schedule("interleaved", {4, 8, 2}));
  EXPECT_EQ(timing.bubble_over_ideal(), Rational(3, 16));
  EXPECT_EQ(timing.bubble_over_total(), Rational(3, 19));
  EXPECT_TRUE(refusal("interleaved", {4, 10, 2}).find("take 8 or 12") != std::string::npos);
  EXPECT_TRUE(refusal("interleaved", {4, 6, 2}).find("take 4 or 8") != std::string::npos);
  EXPECT_TRUE(refusal("interleaved", {4, 3, 2}).find("take 4 micro-batches") != std::string::npos);
  const Schedule alone = make_schedule("interleaved", {1, 3, 2});
  EXPECT_NO_THROW(require_valid(alone));
  EXPECT_EQ(time_of(alone).bubble(), Rational(0));
}

TEST(CaseI9, BothDirectionsNeedEvenNumbers) {
  EXPECT_EQ(refusal("dualpipe", {3, 8, 1}),
            "dualpipe gives each device two stages, one from each end, and 3 stages are an odd "
            "number: take 2 or 4");
  EXPECT_EQ(refusal("dualpipe", {4, 6, 1}),
            "dualpipe of 4 stages needs at least 2p = 8 micro-batches, and an even number: got 6; "
            "take 8");
  EXPECT_EQ(refusal("dualpipe", {4, 9, 1}),
            "dualpipe sends half of the micro-batches in at each end, and 9 is odd: take 8 or 10");
  EXPECT_TRUE(refusal("dualpipe", {4, 7, 1}).find("at least 2p = 8") != std::string::npos);
  EXPECT_TRUE(refusal("dualpipev", {5, 8, 1}).find("take 4 or 6") != std::string::npos);
  EXPECT_TRUE(refusal("dualpipev", {8, 7, 1}).find("take 8") != std::string::npos);
  for (const PipelineShape& shape : {PipelineShape{4, 8, 1}, {4, 10, 1}, {2, 4, 1}}) {
    EXPECT_NO_THROW(require_valid(make_schedule("dualpipe", shape)));
  }
}

TEST(Generators, RefuseShapesAndNamesThatAreNone) {
  EXPECT_EQ(refusal("1f1b", {0, 4, 1}),
            "schedule 1f1b needs at least 1 stage, 1 micro-batch and 1 chunk: got 0, 4 and 1");
  EXPECT_TRUE(refusal("gpipe", {2, 4, 2}).find("has no chunks to choose: got 2") !=
              std::string::npos);
  EXPECT_TRUE(refusal("1f1b", {4096, 1'000'000, 1}).find("take fewer micro-batches") !=
              std::string::npos);
  EXPECT_TRUE(refusal("zb-h1", {4, 8, 1}).find("naive, gpipe, 1f1b, interleaved, zb_h1") !=
              std::string::npos);
}

}  // namespace
}  // namespace ringside
