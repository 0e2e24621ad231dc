// The classic fault of data parallelism: one rank reduces its buckets in another order.
#include <gtest/gtest.h>

#include <algorithm>

#include "parallel/data_parallel.hpp"
#include "runtime/errors.hpp"
#include "tests/support/job_shapes.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {
namespace {

class BucketOrder : public ShapedTest {};

// Three layers of one tensor of eight elements each, a bucket for each.
JobResult reduce_buckets(const JobOptions& job, Fault fault) {
  return run_job(4, job, [=](Rank& rank) -> std::string {
    std::vector<Parameter> parameters(3);
    std::vector<std::vector<Parameter*>> layers;
    for (Parameter& parameter : parameters) {
      parameter.name = "p" + std::to_string(layers.size());
      parameter.value =
          Tensor(rank.memory(), DType::f32, {2, 4}, Category::weights, parameter.name);
      layers.push_back({&parameter});
    }
    DataParallel dp(rank.world(), rank.memory(), layers,
                    {.buckets = {.limit = Bytes{32}}, .fault = fault});
    dp.begin_step();
    for (std::size_t t = layers.size(); t-- > 0;) {
      std::ranges::fill(parameters[t].grad.as<float>(), static_cast<float>(t + 1));
      dp.layer_done(t);
    }
    dp.finish();
    std::string sums = std::to_string(dp.buckets().size()) + " buckets:";
    for (const Parameter& parameter : parameters) {
      sums += " " + std::to_string(static_cast<int>(parameter.grad.as<float>()[3]));
    }
    return sums;
  });
}

TEST_P(BucketOrder, ThatIsEqualOnAllRanksSumsEachBucket) {
  const auto result = reduce_buckets(GetParam().options(), Fault::none);
  ASSERT_TRUE(result.ok()) << result.describe();
  for (const RankOutcome& rank : result.ranks) {
    EXPECT_EQ(rank.value, "3 buckets: 4 8 12");
  }
}

TEST_P(BucketOrder, ThatOneRankSwapsIsAMismatchWhichNamesBothLabels) {
  const auto result = reduce_buckets(GetParam().options(), Fault::buckets_swapped);
  ASSERT_FALSE(result.ok());
  EXPECT_THROW(result.raise(), Desync);
  for (const RankOutcome& rank : result.ranks) {
    EXPECT_TRUE(rank.type == "Desync" || rank.ending == Ending::stopped) << result.describe();
    for (const std::string part : {"#0 of 8 f32, \"grad.bucket.0\"", "\"grad.bucket.1\""}) {
      EXPECT_NE(rank.text.find(part), std::string::npos) << part << " is not in:\n" << rank.text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, BucketOrder, testing::ValuesIn(job_shapes()), shape_name);

}  // namespace
}  // namespace ringside
