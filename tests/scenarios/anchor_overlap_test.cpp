// The anchor's gradients over 50 and 160 GB/s, executed, beside the chapter's seconds and a hand
// calculation of what stays exposed.
#include <gtest/gtest.h>

#include <cmath>

#include "runtime/errors.hpp"
#include "scenarios/outcome_figures.hpp"
#include "scenarios/overrides.hpp"
#include "scenarios/scenario_file.hpp"
#include "scenarios/training_job.hpp"

namespace ringside {
namespace {

Settings scenario(const std::string& name) {
  Settings s = load_scenario(find_scenario(name));
  resolve(s);
  return s;
}

double seconds(Time time) {
  return static_cast<double>(time.count()) / 1e12;
}

// The exposed time when nothing leaves before backward has ended: all of the all-reduce.
double all_reduce_of(Settings s) {
  s.dp.overlap = false;
  return seconds(exposed_time(run_at_true_scale(s, {})));
}

constexpr double bytes = 97'234'997'832;       // a rank sends
constexpr double text = 25'624'600'064;        // N', parameters
constexpr double head = 1'271'398'400;         // of it; the embedding has as many
constexpr double backward = 1.04958361862144;  // s: 4 N' 4,096 tokens over 400 TFLOP/s
constexpr double nanosecond = 1e-9;            // some hundred charges round up, a picosecond each

TEST(AnchorOverlap, BetweenMachinesBackwardIsTooShort) {
  const Settings s = scenario("dp/anchor_ib");
  const auto outcome = run_at_true_scale(s, {});
  const double all_reduce = all_reduce_of(s);
  EXPECT_EQ(all_reduce, bytes / 50e9);
  EXPECT_NEAR(seconds(backward_time(outcome)), backward, nanosecond);
  // Each layer takes longer to send than to compute, so from the head's gradients on, which come
  // first, the link is never idle.
  EXPECT_NEAR(seconds(exposed_time(outcome)), backward * head / text + all_reduce - backward,
              nanosecond);
}

TEST(AnchorOverlap, InsideAMachineAllButTheLastBucketsIsHidden) {
  const Settings s = scenario("dp/anchor_nvlink");
  const auto outcome = run_at_true_scale(s, {});
  EXPECT_NEAR(all_reduce_of(s), bytes / 160e9, nanosecond);
  EXPECT_NEAR(seconds(backward_time(outcome)), backward, nanosecond);
  const double embedding = 2 * 7.0 / 8 * 2 * head / 160e9;
  EXPECT_GT(seconds(exposed_time(outcome)), embedding);
  EXPECT_LT(seconds(exposed_time(outcome)), 2 * embedding);
}

// Negative control: the account that the layers keep themselves is another.
TEST(AnchorOverlap, TheCountedAccountIsNotTheChapters) {
  Settings s = scenario("dp/anchor_nvlink");
  s.costs.account = "counted";
  EXPECT_GT(seconds(backward_time(run_at_true_scale(s, {}))), backward + 0.01);
}

TEST(AnchorOverlap, TheChaptersAccountIsOfAPublishedModelWithoutExperts) {
  Settings s = scenario("dp/anchor_ib");
  s.model.config = "deepseek-v3";
  EXPECT_THROW(resolve(s), BadUse);
  s = scenario("dp/ring");
  s.costs.account = "chapter";
  EXPECT_THROW(resolve(s), BadUse);
}

}  // namespace
}  // namespace ringside
