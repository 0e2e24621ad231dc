// Replicas that train together stay equal to the bit, whatever reduces their gradients.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "collectives/all_reduce.hpp"
#include "tests/parallel/small_training.hpp"

namespace ringside {
namespace {

std::uint64_t hash(std::uint64_t seed, const std::vector<std::vector<double>>& tensors) {
  for (const auto& tensor : tensors) {
    for (const double value : tensor) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, &value, sizeof bits);
      seed = (seed ^ bits) * 1099511628211U;
    }
  }
  return seed;
}

// By rank: the hashes of gradients and parameters after each step.
std::vector<std::vector<std::uint64_t>> hashes(const TrainingPlan& plan, int gpus_per_node,
                                               const DataParallelOptions& options) {
  JobOptions job{.region_bytes = memory_estimate(plan, plan.batch)};
  job.cluster.gpus_per_node = gpus_per_node;
  return run_ranks_tested(5, job, [&](Rank& rank) {
    std::vector<std::uint64_t> of_steps;
    train_rank(rank, plan, options, 1, {}, [&](int, const StepRecord& record) {
      of_steps.push_back(hash(hash(1, record.gradients), record.parameters));
    });
    return of_steps;
  });
}

class CaseC6Training : public testing::TestWithParam<std::string_view> {};

TEST_P(CaseC6Training, ReplicasAreEqualAfter50Steps) {
  for (const std::string optimizer : {"sgd", "adamw"}) {
    auto plan = small_plan(6);
    plan.steps = 50;
    plan.optimizer.kind = optimizer;
    plan.optimizer.lr = optimizer == "sgd" ? 0.1 : 1e-3;
    for (const int gpus_per_node : {0, 2}) {
      const auto of_rank = hashes(plan, gpus_per_node, {.all_reduce = std::string(GetParam())});
      ASSERT_EQ(of_rank[0].size(), 50U);
      EXPECT_NE(of_rank[0][49], of_rank[0][48]) << "nothing is learned";
      for (std::size_t r = 1; r < of_rank.size(); ++r) {
        EXPECT_EQ(of_rank[r], of_rank[0]) << optimizer << ", rank " << r;
      }
    }
  }
}

// The control: replicas that start apart stay apart.
TEST(CaseC6TrainingControl, ReplicasThatStartApartAreSeen) {
  auto plan = small_plan(6);
  const auto of_rank = hashes(plan, 0, {.fault = Fault::weights_not_broadcast});
  EXPECT_NE(of_rank[1], of_rank[0]);
}

std::vector<std::string_view> names() {
  std::vector<std::string_view> all;
  for (const auto& row : all_reduce_algorithms()) {
    all.push_back(row.name);
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Algorithms, CaseC6Training, testing::ValuesIn(names()),
                         [](const auto& of) { return std::string(of.param); });

}  // namespace
}  // namespace ringside
