// Equal runs write equal logs of their messages but for wall times, whatever carries the messages
// and however the processes are scheduled.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "models/text.hpp"
#include "runtime/traffic_log.hpp"
#include "scenarios/exit_codes.hpp"
#include "scenarios/overrides.hpp"
#include "scenarios/scenario_file.hpp"
#include "scenarios/training_job.hpp"
#include "tests/scenarios/traffic_lines.hpp"
#include "tests/support/job_shapes.hpp"
#include "tests/support/program.hpp"

namespace ringside {
namespace {

constexpr int ranks = 8;

// dp/ring, made small, on nodes of so many GPUs (0: one node).
Settings small_settings(int gpus_per_node) {
  Settings settings = load_scenario(find_scenario("dp/ring"));
  Overrides overrides{.set = {}, .ranks = std::to_string(ranks)};
  for (const auto* set :
       {"model.hidden=8", "model.layers=1", "model.embedding=2", "model.sequence=4",
        "train.batch=16", "train.steps=2", "dp.bucket=4 KiB"}) {
    overrides.set.push_back(parse_set(set));
  }
  const int gpus = gpus_per_node > 0 ? gpus_per_node : ranks;
  overrides.set.push_back(parse_set("cluster.gpus_per_node=" + std::to_string(gpus)));
  apply_overrides(settings, overrides);
  return settings;
}

// The log that a job of this shape writes, without wall times.
std::string log_of(const JobShape& shape, std::uint64_t disturb) {
  const Settings settings = small_settings(shape.gpus_per_node);
  JobOptions options = shape.options();
  options.log = LogLevel::full;
  options.disturb = disturb;
  const Reference truth{.steps = train_alone(plan_of(settings, builtin_text()))};
  const auto outcome =
      run_training({.settings = settings, .options = options}, builtin_text(), truth);
  std::vector<RankReport> reports;
  for (const auto& rank : outcome.job.ranks) {
    reports.push_back(rank.report);
  }
  const TemporaryFolder folder;
  write_traffic_log(folder / "traffic.jsonl", reports);
  return modelled_traffic(folder / "traffic.jsonl");
}

class Reproducible : public ShapedTest {};

TEST_P(Reproducible, RandomSleepsChangeNoLine) {
  const auto quiet = log_of(GetParam(), 0);
  EXPECT_NE(quiet.find("\"op\":\"all_reduce\""), std::string::npos);
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    EXPECT_TRUE(log_of(GetParam(), seed) == quiet) << "with the delays of seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Jobs, Reproducible, testing::ValuesIn(job_shapes()), shape_name);

TEST(ReproducibleRuns, EagerLimitAndPhysicalWireChangeNoLine) {
  std::map<int, std::set<std::string>> logs;  // by GPUs per node
  for (const auto& shape : job_shapes()) {
    if (shape.as == Ranks::processes) {
      logs[shape.gpus_per_node].insert(log_of(shape, 0));
    }
  }
  for (const auto& [gpus, kinds] : logs) {
    EXPECT_EQ(kinds.size(), 1U) << "nodes of " << gpus;
  }
  EXPECT_EQ(logs.size(), 3U);
  EXPECT_FALSE(*logs[0].begin() == *logs[1].begin()) << "the topology shows in the log";
}

// The log of `ringside run`, without wall times.
std::string log_of_program(const std::string& flags) {
  const TemporaryFolder folder;
  const auto ended = run_program(
      "run dp/ring --ranks 8 --set 'checks.run=[\"traffic\"]' --out run" + tiny_job + flags, "",
      folder.path());
  EXPECT_EQ(ended.exit_code, exit_ok) << ended.err;
  return modelled_traffic(folder / "run/traffic.jsonl");
}

TEST(ReproducibleRuns, EqualRunsOfTheProgramWriteEqualLogs) {
  for (const std::string nodes : {"", " --set cluster.nodes=4 --set cluster.gpus_per_node=2"}) {
    const auto first = log_of_program(nodes);
    EXPECT_FALSE(first.empty());
    EXPECT_TRUE(log_of_program(nodes) == first) << nodes;
    EXPECT_TRUE(log_of_program(nodes + " --eager-limit 0") == first) << nodes;
    EXPECT_FALSE(log_of_program(nodes + " --set train.steps=3") == first) << nodes;
  }
}

}  // namespace
}  // namespace ringside
