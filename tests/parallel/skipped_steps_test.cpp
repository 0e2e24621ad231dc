// Cases G6 and C8 over ranks: a step that one rank's gradient spoils is skipped by all of them,
// under data parallelism and every stage of ZeRO.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "models/gradient_norm.hpp"
#include "parallel/data_parallel.hpp"
#include "parallel/zero.hpp"
#include "tests/parallel/given_gradients.hpp"
#include "tests/parallel/small_training.hpp"

namespace ringside {
namespace {

constexpr std::size_t elements = 6;

// Of batch 1, one element on one rank alone; elsewhere finite numbers.
double gradient(int rank, int batch, std::size_t i, double bad) {
  return batch == 1 && rank == 1 && i == 0
             ? bad
             : 0.1 * static_cast<double>(i + 1) * (batch % 2 == 0 ? 1 : -1) / (rank + 1);
}

struct Given {
  int stage = 0;  // of ZeRO; 0: data parallelism
  std::vector<int> batches{};
  double bad = 0;
  double clip = 0;
  std::optional<LossScaling> scaling{};
  bool looks = true;  // at the ranks' common norm; not: each at its own
};

struct End {
  std::vector<double> held{};  // what this rank updates, after the last step
  std::vector<int> skipped{};
  std::int64_t updates = 0;
  double next_scale = 1;
  bool finite_elsewhere = true;  // the gradient of a skipped step, but for the bad element
};

End run(Rank& rank, const Given& given) {
  int batch = 0;
  double scale = 1;
  const GradientOf made = [&](std::size_t i) {
    return static_cast<double>(static_cast<float>(gradient(rank.id(), batch, i, given.bad)) *
                               static_cast<float>(scale));
  };
  const auto model = given_model({rank.memory(), rank.clock()}, {{elements, made}}, DType::f32, 1);
  std::unique_ptr<DataParallel> dp;
  std::unique_ptr<Zero> zero;
  if (given.stage == 0) {
    dp = std::make_unique<DataParallel>(rank.world(), rank.memory(), model->layers(),
                                        DataParallelOptions{});
  } else {
    zero = std::make_unique<Zero>(rank.world(), rank.memory(), *model,
                                  ZeroOptions{.stage = given.stage});
  }
  GradientReduction& reduction = zero ? static_cast<GradientReduction&>(*zero) : *dp;
  const auto parameters = zero ? zero->parameters() : flatten(model->layers());
  TrainingPlan plan;
  plan.optimizer = {.kind = "adamw", .lr = 0.01};
  plan.steps = static_cast<int>(given.batches.size());
  plan.clip = given.clip;
  plan.loss_scaling = given.scaling;
  const auto optimizer = make_optimizer(plan.optimizer, rank.memory(), parameters);
  DataParallelStep step(
      rank.world(), reduction, *model,
      [&](int s, int) {
        batch = given.batches[static_cast<std::size_t>(s)];
        return rank.id() == 0 ? one_token() : Batch{.context = 1};
      },
      1);
  End end;
  TrainingSeams seams{.scale_loss = [&](double by) { scale = by; }};
  if (zero) {
    seams.norm = [&] { return given.looks ? zero->gradient_norm() : gradient_norm(parameters); };
  }
  train(
      plan, parameters, *optimizer, std::ref(step),
      [&](int s, const StepRecord& record) {
        if (zero) {
          zero->end_update();
        }
        if (record.skipped) {
          end.skipped.push_back(s);
          const auto& first = record.gradients.front();
          end.finite_elsewhere = std::count_if(first.begin(), first.end(),
                                               [](double g) { return !std::isfinite(g); }) <= 1;
        }
        end.held.clear();
        for (const auto& tensor : record.parameters) {
          end.held.insert(end.held.end(), tensor.begin(), tensor.end());
        }
        end.next_scale = record.next_scale.value;
      },
      seams);
  end.updates = optimizer->steps();
  return end;
}

std::string described(int ranks, int stage) {
  return std::to_string(ranks) + " ranks, " +
         (stage == 0 ? std::string("DP") : "ZeRO-" + std::to_string(stage));
}

TEST(CaseG6, AnOverflowOnOneRankSkipsTheStepOnAllAndDoesNotCount) {
  for (const int ranks : {2, 3}) {
    for (const int stage : {0, 1, 2, 3}) {
      run_ranks_tested(ranks, small_job(), [&](Rank& rank) {
        Given given{.stage = stage,
                    .batches = {0, 1, 2, 3},
                    .bad = 1e9,  // times 2^100 it is above the largest f32
                    .scaling = LossScaling{.initial = 0x1p100}};
        const End with = run(rank, given);
        given.batches = {0, 2, 3};
        const End without = run(rank, given);
        const std::string what = described(ranks, stage);
        EXPECT_EQ(with.skipped, std::vector<int>{1}) << what << ", rank " << rank.id();
        EXPECT_EQ(with.updates, 3) << what;
        EXPECT_EQ(with.held, without.held) << what;
        EXPECT_EQ(with.next_scale, 0x1p99) << what << ", rank " << rank.id();
        EXPECT_EQ(without.next_scale, 0x1p100) << what;
        EXPECT_TRUE(without.skipped.empty()) << what;
      });
    }
  }
}

TEST(CaseC8, ANormThatIsNotFiniteOnOneShardSkipsTheStepOnAllRanks) {
  for (const double bad : {std::numeric_limits<double>::infinity(), std::nan("")}) {
    for (const int stage : {0, 1, 2, 3}) {
      run_ranks_tested(3, small_job(), [&](Rank& rank) {
        Given given{.stage = stage, .batches = {0, 1, 2}, .bad = bad, .clip = 1};
        const End with = run(rank, given);
        given.batches = {0, 2};
        const End without = run(rank, given);
        const std::string what = described(3, stage);
        EXPECT_EQ(with.skipped, std::vector<int>{1}) << what << ", rank " << rank.id();
        EXPECT_TRUE(with.finite_elsewhere) << what;
        EXPECT_EQ(with.held, without.held) << what << ": the next step goes on as ever";
        EXPECT_EQ(with.updates, 2) << what;
      });
    }
  }
}

// The control: a rank that looks at its own shard's norm goes on where another skips.
TEST(CaseC8, WithANormOfItsOwnARankGoesOnAlone) {
  const auto skipped = run_ranks_tested(3, small_job(), [](Rank& rank) {
    return run(rank, {.stage = 2,
                      .batches = {0, 1, 2},
                      .bad = std::numeric_limits<double>::infinity(),
                      .clip = 1,
                      .looks = false})
        .skipped.size();
  });
  EXPECT_EQ(skipped, (std::vector<std::size_t>{1, 0, 0}));
}

}  // namespace
}  // namespace ringside
