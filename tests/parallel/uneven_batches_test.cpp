// Data parallelism where ranks and micro-batches have different numbers of tokens, or none.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "parallel/data_parallel_step.hpp"
#include "tests/parallel/small_training.hpp"

namespace ringside {
namespace {

// ---- F1: micro-batches with different token counts ----------------------------------------------

// Tokens [first, first + count) of one long row of made-up tokens; other ones in every step.
Batch made_up(int step, std::size_t first, std::size_t count) {
  Batch batch{.context = 4, .lengths = {count}};
  for (std::size_t t = first; t < first + count; ++t) {
    for (std::size_t k = 0; k < 4; ++k) {
      batch.contexts.push_back(
          static_cast<std::uint8_t>(7 * t + k + static_cast<std::size_t>(step)));
    }
    batch.targets.push_back(static_cast<std::uint8_t>(11 * t));
  }
  return batch;
}

// By rank and micro-batch.
using TokenCounts = std::vector<std::vector<std::size_t>>;

// The rows of tokens cut as `counts` says.
MicrobatchesOf made_up_batches(const TokenCounts& counts) {
  return [&counts](Rank& rank) -> Microbatches {
    const auto r = static_cast<std::size_t>(rank.id());
    return [&counts, r](int step, int index) {
      std::size_t first = 0;
      for (std::size_t other = 0; other < r; ++other) {
        first += std::accumulate(counts[other].begin(), counts[other].end(), std::size_t{0});
      }
      const auto i = static_cast<std::size_t>(index);
      for (std::size_t m = 0; m < i; ++m) {
        first += counts[r][m];
      }
      return made_up(step, first, counts[r][i]);
    };
  };
}

Seen trained_on_counts(const TokenCounts& counts, std::size_t tokens_of_truth) {
  const auto plan = small_plan(1, DType::f64);
  const auto truth =
      train_alone_on(plan, [&](int step) { return made_up(step, 0, tokens_of_truth); });
  const auto seen = train_on({.ranks = static_cast<int>(counts.size()),
                              .microbatches = static_cast<int>(counts[0].size()),
                              .batches_of = made_up_batches(counts)},
                             plan, truth);
  return {seen.gradients, relative(truth.back().gradient_norm, seen.norm),
          relative(truth.back().loss, seen.loss)};
}

TEST(CaseF1, MicrobatchesOf5And0And2And1TokensGiveTheGradientOfAll) {
  for (const TokenCounts& counts :
       {TokenCounts{{5, 0, 2, 1}}, TokenCounts{{5, 0, 2, 1}, {0, 0, 3, 0}},
        TokenCounts{{0, 0, 0, 0}, {5, 0, 2, 1}, {1, 1, 1, 0}}}) {
    std::size_t tokens = 0;
    for (const auto& of_rank : counts) {
      tokens += std::accumulate(of_rank.begin(), of_rank.end(), std::size_t{0});
    }
    const auto seen = trained_on_counts(counts, tokens);
    EXPECT_LT(seen.gradients.absolute, 1e-12) << counts.size() << " ranks";
    EXPECT_LT(seen.norm, 1e-12);
    EXPECT_LT(seen.loss, 1e-12);
    EXPECT_GT(trained_on_counts(counts, tokens + 1).gradients.absolute, 1e-6) << "the control";
  }
}

struct LossAndGradient {
  double loss;
  double gradient;
};

// A parameter of one number on every rank, reduced like any gradient: a token's gradient is its
// loss. The record of every step, as rank 0 has it.
template <class LossesOf>
std::vector<LossAndGradient> losses_and_gradients(int ranks, int steps, LossesOf losses_of) {
  const auto seen = run_ranks_tested(ranks, small_job(), [&](Rank& rank) {
    Parameter p{.name = "p",
                .value = Tensor(rank.memory(), DType::f64, {1}, Category::weights, "p"),
                .grad = {}};
    DataParallel dp(rank.world(), rank.memory(), {{&p}}, {});
    auto plan = small_plan(1, DType::f64);
    plan.steps = steps;
    const auto optimizer = make_optimizer(plan.optimizer, rank.memory(), {&p});
    std::vector<LossAndGradient> records;
    train(
        plan, {&p}, *optimizer,
        [&](int step) {
          dp.begin_step();
          const std::vector<double> losses = losses_of(rank.id(), step);
          const double sum = std::accumulate(losses.begin(), losses.end(), 0.0);
          p.grad.template as<double>()[0] += sum;
          dp.layer_done(0);
          dp.finish();
          dp.end_step();
          return StepSum{dp.sum(sum, "loss"),
                         dp.sum(static_cast<std::int64_t>(losses.size()), "tokens")};
        },
        [&](int, const StepRecord& record) {
          records.push_back({record.loss, record.gradients[0][0]});
        });
    return records;
  });
  return seen.front();
}

// Losses 2 of one token and 1, 1, 1 of three: the mean over four tokens, not over two means.
TEST(CaseF1, TokensAreCountedOnceOverUnevenRanks) {
  const auto seen = losses_and_gradients(2, 1, [](int rank, int) {
    return rank == 0 ? std::vector<double>{2} : std::vector<double>{1, 1, 1};
  });
  EXPECT_DOUBLE_EQ(seen[0].loss, 1.25);
  EXPECT_DOUBLE_EQ(seen[0].gradient, 1.25);
}

TEST(CaseF1, AnEmptyMicrobatchAddsNothingAndTheShortWindowIsApplied) {
  const auto plan = small_plan(3);  // 3 samples over 2 ranks x 4 micro-batches: most are empty
  const auto seen = train_on({.microbatches = 4}, plan, train_alone(plan));
  EXPECT_LT(seen.gradients.absolute, 1e-6);
}

// ---- F3: ranks with different batch sizes -------------------------------------------------------

TEST(CaseF3, ABatchOf10Over3RanksGivesTheMeanOver10) {
  const auto plan = small_plan(10);
  const auto truth = train_alone(plan);
  const auto seen = train_on({.ranks = 3}, plan, truth);
  EXPECT_LT(seen.gradients.absolute, 1e-6);
  EXPECT_LT(relative(truth.back().loss, seen.loss), 1e-6);
}

// Rank r takes `counts[r]` samples of the step.
MicrobatchesOf samples(const TrainingPlan& plan, const std::vector<std::uint64_t>& counts) {
  return [&](Rank& rank) -> Microbatches {
    const auto r = static_cast<std::ptrdiff_t>(rank.id());
    const auto first = std::accumulate(counts.begin(), counts.begin() + r, std::uint64_t{0});
    return [&plan, &counts, r, first](int step, int) {
      return make_batch(plan.data, static_cast<std::uint64_t>(step), first,
                        counts[static_cast<std::size_t>(r)]);
    };
  };
}

TEST(CaseF3, Samples4And4And2GiveTheMeanOver10) {
  const auto plan = small_plan(10);
  const auto truth = train_alone(plan);
  const std::vector<std::uint64_t> counts{4, 4, 2};
  const auto seen = train_on({.ranks = 3, .batches_of = samples(plan, counts)}, plan, truth);
  EXPECT_LT(seen.gradients.absolute, 1e-6);
  EXPECT_LT(relative(truth.back().loss, seen.loss), 1e-6);
  EXPECT_LT(relative(truth.back().gradient_norm, seen.norm), 1e-6);
  const std::vector<std::uint64_t> too_few{4, 4, 1};
  const auto control = train_on({.ranks = 3, .batches_of = samples(plan, too_few)}, plan, truth);
  EXPECT_GT(control.gradients.absolute, 1e-5) << "the control";
}

// ---- F4: a rank runs out of data first ----------------------------------------------------------

TEST(CaseF4, ARankWithoutSamplesTakesPartWithNothing) {
  const auto plan = small_plan(3);
  const auto seen = train_on({.ranks = 4}, plan, train_alone(plan));
  EXPECT_LT(seen.gradients.absolute, 1e-6);
}

// Every token's gradient is one; in the last of three steps rank 3 has no batch.
TEST(CaseF4, TheMeanIsOverTheTokensOfThoseWhoTookPart) {
  const auto seen = losses_and_gradients(4, 3, [](int rank, int step) {
    return std::vector<double>(rank == 3 && step == 2 ? 0 : 2, 1.0);
  });
  for (const auto& [loss, gradient] : seen) {
    EXPECT_EQ(loss, 1.0);
    EXPECT_EQ(gradient, 1.0) << "not 3/4";
  }
}

// The same with a model: the last step is that of the three others' samples.
TEST(CaseF4, ARankThatRanOutInTheLastStepTakesPartWithNothing) {
  const auto plan = small_plan(8);
  const auto truth = train_alone_on(plan, [&](int step) {
    return make_batch(plan.data, static_cast<std::uint64_t>(step), 0, step == 2 ? 6 : 8);
  });
  const auto batches = [&](Rank& rank) -> Microbatches {
    return [&plan, r = rank.id()](int step, int) {
      return make_batch(plan.data, static_cast<std::uint64_t>(step),
                        2 * static_cast<std::uint64_t>(r), r == 3 && step == 2 ? 0 : 2);
    };
  };
  const auto seen = train_on({.ranks = 4, .batches_of = batches}, plan, truth);
  EXPECT_LT(seen.gradients.absolute, 1e-6);
  EXPECT_LT(relative(truth.back().loss, seen.loss), 1e-6);
}

}  // namespace
}  // namespace ringside
