// One process that runs the shards in turn is data parallelism, bit for bit, in the same order.
#include "parallel/shards_in_turn.hpp"

#include <gtest/gtest.h>

#include "models/text.hpp"
#include "parallel/data_parallel.hpp"
#include "parallel/data_parallel_step.hpp"
#include "parallel/deviation.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {
namespace {

constexpr int ranks = 3;

TrainingPlan plan_in(DType dtype) {
  return {
      .model = MlpConfig{.context = 4, .embedding = 4, .hidden = 10, .layers = 1, .dtype = dtype},
      .optimizer = {.kind = "adamw", .lr = 0.01},
      .data = {.text = builtin_text(), .seed = 5, .sequence = 8, .context = 4},
      .steps = 3,
      .batch = 10};
}

// Whether data parallelism has the bits of `truth` at every step on every rank.
bool has_bits_of(const std::vector<StepRecord>& truth, const TrainingPlan& plan,
                 const std::string& algorithm, int microbatches) {
  const JobOptions job{.region_bytes = memory_estimate(plan, plan.batch)};
  const auto equal = run_ranks_tested(ranks, job, [&](Rank& rank) {
    const auto model = make_model({rank.memory(), rank.clock()}, plan.model, plan.data.seed);
    const auto parameters = flatten(model->layers());
    DataParallel dp(rank.world(), rank.memory(), model->layers(),
                    {.buckets = {.limit = Bytes{256}}, .all_reduce = algorithm});
    const auto optimizer = make_optimizer(plan.optimizer, rank.memory(), parameters);
    DataParallelStep step(rank.world(), dp, *model, plan, microbatches);
    bool same = true;
    train(plan, parameters, *optimizer, std::ref(step), [&](int s, const StepRecord& record) {
      const auto& there = truth[static_cast<std::size_t>(s)];
      same &= deviation(there.gradients, record.gradients, dtype_of(plan.model)).bit_equal &&
              deviation(there.parameters, record.parameters, dtype_of(plan.model)).bit_equal;
    });
    return same;
  });
  return std::all_of(equal.begin(), equal.end(), [](bool e) { return e; });
}

TEST(ShardsInTurn, HaveTheBitsOfTheCollectiveWhoseOrderTheyFollow) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const auto plan = plan_in(dtype);
    const auto in = [&](std::string_view algorithm) {
      const auto order = [&](std::size_t n) {
        return order_of_run(all_reduce_call(algorithm), ranks, 0, n).order;
      };
      return train_shards_in_turn(
          plan,
          {.shards = ranks, .microbatches = 2, .order = order, .buckets = {.limit = Bytes{256}}});
    };
    for (const AllReduce& row : all_reduce_algorithms()) {
      const std::string name(row.name);
      EXPECT_TRUE(has_bits_of(in(name), plan, name, 2)) << name;
    }
    const auto in_rank_order = train_shards_in_turn(
        plan, {.shards = ranks, .microbatches = 2, .buckets = {.limit = Bytes{256}}});
    EXPECT_TRUE(has_bits_of(in_rank_order, plan, "direct", 2));
    EXPECT_FALSE(has_bits_of(in_rank_order, plan, "ring", 2));
  }
}

TEST(ShardsInTurn, AreCloseToTheWholeBatchInOnePiece) {
  const auto plan = plan_in(DType::f64);
  const auto shards = train_shards_in_turn(plan, {.shards = ranks});
  const auto whole = train_alone(plan);
  EXPECT_LT(deviation(whole.front().gradients, shards.front().gradients, DType::f64).absolute,
            1e-12);
}

}  // namespace
}  // namespace ringside
