// When actions run: by hand, against formulas, and against a queue of events.
#include "parallel/pipeline/timing.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "parallel/pipeline/generators.hpp"
#include "parallel/pipeline/in_flight.hpp"
#include "parallel/pipeline/schedule_csv.hpp"
#include "parallel/pipeline/validate.hpp"
#include "runtime/errors.hpp"
#include "tests/parallel/pipeline/event_queue.hpp"

namespace ringside {
namespace {

constexpr WholeCosts several_costs[] = {{1, 1, 1, 0}, {1, 2, 1, 0}, {2, 1, 1, 0}, {3, 4, 2, 0},
                                        {1, 1, 3, 0}, {2, 3, 5, 0}, {1, 1, 1, 1}, {4, 4, 3, 2}};

ScheduleCosts exact(const WholeCosts& costs) {
  return {costs.forward, costs.input_gradient, costs.weight_gradient, costs.send};
}

struct Shaped {
  std::string name;
  PipelineShape shape;
};

std::vector<Shaped> shapes() {
  std::vector<Shaped> all;
  for (const int p : {1, 2, 3, 4, 5, 8}) {
    for (const int m : {p, 2 * p - 1, 2 * p, 2 * p + 2, 3 * p + 1, 4 * p}) {
      for (const auto& name : schedule_names()) {
        const bool fits = (name != "zb_h2" || m >= 2 * p - 1) &&
                          (name != "dualpipe" || (p % 2 == 0 && m % 2 == 0 && m >= 2 * p)) &&
                          (name != "dualpipev" || p % 2 == 0) &&
                          (name != "interleaved" || m % p == 0);
        if (fits) {
          all.push_back({name, {p, m, name == "interleaved" ? 1 + m % 4 : 1}});
        }
      }
    }
  }
  return all;
}

std::string text_of(const Shaped& shaped) {
  return shaped.name + " p=" + std::to_string(shaped.shape.stages) +
         " m=" + std::to_string(shaped.shape.microbatches) +
         " v=" + std::to_string(shaped.shape.chunks);
}

TEST(ScheduleTiming, IsThatOfAQueueOfEvents) {
  for (const Shaped& shaped : shapes()) {
    SCOPED_TRACE(text_of(shaped));
    Schedule schedule = make_schedule(shaped.name, shaped.shape);
    ASSERT_NO_THROW(require_valid(schedule));
    schedule.chunks = 1;  // the queue counts in whole numbers
    for (const WholeCosts& costs : several_costs) {
      const Rational expected = EventQueue(schedule, costs).makespan();
      EXPECT_EQ(time_of(schedule, exact(costs)).makespan(), expected);
    }
  }
}

Rational larger(const Rational& a, const Rational& b) {
  return a < b ? b : a;
}

// What schedules of a name wait, for any costs: beyond the published range of costs, too.
Rational expected_bubble(const Shaped& shaped, const ScheduleCosts& c) {
  const Rational ahead(shaped.shape.stages - 1);
  const Rational& f = c.forward;
  const Rational& i = c.input_gradient;
  const Rational& w = c.weight_gradient;
  if (shaped.name == "zb_h1") {
    return ahead * larger(larger(f, i), f + i - w);
  }
  if (shaped.name == "zb_h2") {
    return ahead * larger(larger(0, i - f), f + i - Rational(2) * w);
  }
  if (shaped.name == "naive") {
    return Rational(shaped.shape.microbatches) * ahead * (f + i + w);
  }
  return ahead * (f + i + w) / Rational(shaped.shape.chunks);
}

TEST(ScheduleTiming, BubblesAreThoseOfTheFormulas) {
  for (const Shaped& shaped : shapes()) {
    SCOPED_TRACE(text_of(shaped));
    const Schedule schedule = make_schedule(shaped.name, shaped.shape);
    const bool dual = shaped.name.starts_with("dualpipe");
    for (const WholeCosts& costs : several_costs) {
      const ScheduleCosts c = exact(costs);
      const bool published =
          costs.forward == costs.input_gradient && costs.weight_gradient <= costs.forward;
      if (costs.send > 0 || (dual && !published)) {
        continue;
      }
      const ScheduleTiming timing = time_of(schedule, c);
      const auto& row = schedule_row(shaped.name);
      const Rational bubble = row.inside_device ? timing.bubble_inside_device() : timing.bubble();
      EXPECT_EQ(bubble.text(),
                (dual ? row.bubble(shaped.shape, c) : expected_bubble(shaped, c)).text());
    }
  }
}

TEST(ScheduleTiming, PeaksAreThoseOfTheFormulas) {
  for (const Shaped& shaped : shapes()) {
    SCOPED_TRACE(text_of(shaped));
    const auto& [name, shape] = shaped;
    const PeakInFlight peaks = peak_in_flight(make_schedule(name, shape));
    const int p = shape.stages;
    const int m = shape.microbatches;
    for (std::size_t d = 0; d < peaks.freed_at_W.size(); ++d) {
      const int k = static_cast<int>(d);
      const int whole = m * shape.chunks;
      const int expected = name == "naive"                       ? 1
                           : name == "gpipe"                     ? m
                           : name == "zb_h1"                     ? p
                           : name == "zb_h2"                     ? 2 * p - 1
                           : name.starts_with("dualpipe")        ? p + 1
                           : name == "1f1b" || shape.chunks == 1 ? std::min(m, p - k)
                           : m == p                              ? whole
                                    : std::min(whole, 2 * (p - k - 1) + (shape.chunks - 1) * p + 1);
      EXPECT_EQ(peaks.freed_at_W[d], expected) << "device " << d;
    }
  }
}

TEST(ScheduleTiming, ByHand) {
  // Device 0: F0 F1 . . B0(2) B1(2); device 1: . F0 B0(2) F1 B1(2).
  const Schedule schedule = parse_schedule_csv("0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n", "by hand");
  const ScheduleTiming timing = time_of(schedule);
  const ActionTimes expected{{{0, 1}, {1, 2}, {4, 6}, {7, 9}}, {{1, 2}, {2, 4}, {4, 5}, {5, 7}}};
  EXPECT_EQ(timing.times, expected);
  EXPECT_EQ(timing.makespan(), Rational(9));
  EXPECT_EQ(timing.busy(), Rational(6));
  EXPECT_EQ(timing.bubble_over_ideal(), Rational(1, 2));
  EXPECT_EQ(timing.bubble_over_total(), Rational(1, 3));
  EXPECT_EQ(timing.bubble_inside_device(), Rational(3));
}

TEST(ScheduleTiming, OfTwoTogetherBothWaitAndBothAreSentAtTheEnd) {
  const Schedule schedule = parse_schedule_csv(
      "0F0,0F1,(0F2;0B0)OVERLAP_F_B,0B1,0B2\n1F0,1B0,1F1,1B1,1F2,1B2\n", "together");
  const ScheduleTiming timing = time_of(schedule);
  EXPECT_EQ(timing.times[0][2], (ActionTime{4, 5}));  // F2 waits for the gradient that B0 needs
  EXPECT_EQ(timing.times[0][3], (ActionTime{5, 7}));
  EXPECT_EQ(timing.times[1][4], (ActionTime{7, 8}));  // and is there after B0 only
}

TEST(ScheduleTiming, SendsCostBetweenDevicesOnly) {
  const Schedule two = parse_schedule_csv("0F0,0B0\n1F0,1B0\n", "two devices");
  const Schedule one = parse_schedule_csv("0F0,1F0,1B0,0B0\n", "one device");
  const ScheduleCosts costs{.send = Rational(1, 2)};
  EXPECT_EQ(time_of(two, costs).makespan(), Rational(7));
  EXPECT_EQ(time_of(one, costs).makespan(), Rational(6));
}

TEST(ScheduleTiming, TheChapterFigures) {
  const auto timing = [](std::string_view name, int m, int v = 1) {
    return time_of(make_schedule(name, {8, m, v}));
  };
  EXPECT_EQ(timing("1f1b", 32).bubble_over_ideal(), Rational(7, 32));
  EXPECT_EQ(timing("1f1b", 32).bubble_over_total(), Rational(7, 39));
  EXPECT_EQ(timing("interleaved", 32, 4).bubble_over_ideal(), Rational(7, 128));
  EXPECT_EQ(timing("zb_h1", 32).bubble() * Rational(3), timing("1f1b", 32).bubble());
  EXPECT_EQ(timing("naive", 1).bubble_over_total(), Rational(7, 8));
  EXPECT_EQ(timing("naive", 5).bubble_over_total(), Rational(7, 8));
  EXPECT_EQ(timing("1f1b", 8).bubble_over_total(), Rational(7, 15));
}

TEST(ScheduleTiming, AThousandMicroBatchesOnSixtyFourStages) {
  const Schedule schedule = make_schedule("1f1b", {64, 1024, 1});
  EXPECT_NO_THROW(require_valid(schedule));
  EXPECT_EQ(time_of(schedule).bubble(), Rational(63 * 3));
}

TEST(ScheduleTiming, RefusesWhatHasNoAnswer) {
  const Schedule schedule = make_schedule("1f1b", {2, 2, 1});
  EXPECT_THROW(time_of(schedule, {0, 0, 0, 1}), BadUse);
  EXPECT_THROW(time_of(schedule, {Rational(1, 3'000'000'019), Rational(1, 3'000'000'007), 1, 0}),
               BadUse);
  const Schedule stuck = parse_schedule_csv("0B0,0F0\n", "stuck");
  EXPECT_THROW(time_of(stuck), BadUse);
}

}  // namespace
}  // namespace ringside
