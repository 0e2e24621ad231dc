// Training with context parallelism against one process: every form, layout and mesh.
#include "tests/parallel/context/context_training.hpp"

#include <gtest/gtest.h>

#include "models/elementary.hpp"
#include "runtime/errors.hpp"

namespace ringside {
namespace {

constexpr auto gate = 1e-12;

ContextParallelOptions options(ContextForm form, ContextLayout layout, Fault fault = Fault::none) {
  return {.form = form, .layout = layout, .fault = fault};
}

void expect_equal(const ContextTraining& on, const TrainingPlan& plan) {
  const auto seen = train_on(on, plan, train_alone_on(on, plan));
  const bool f64 = dtype_of(plan.model) == DType::f64;
  EXPECT_LT(seen.gradients, f64 ? gate : 1e-6);
  EXPECT_LT(seen.of_largest, f64 ? gate : 1e-5);
  EXPECT_LT(seen.parameters, f64 ? gate : 1e-6);
  EXPECT_LT(seen.loss, f64 ? gate : 1e-6);
  EXPECT_LT(seen.norm, f64 ? gate : 1e-6);
}

// Samples of 9 tokens, and in the first step one of 27: padded over every number of ranks.
TEST(ContextTraining, EveryFormAndLayoutEqualsOneProcessOnTwoToEightRanks) {
  for (const auto dtype : {DType::f64, DType::f32}) {
    for (const int cp : {2, 3, 4, 8}) {
      const auto plan = gpt_plan(cp == 3 ? gpt_for_three(dtype) : small_gpt(dtype));
      for (const auto form : {ContextForm::ring, ContextForm::ulysses}) {
        for (const auto layout : {ContextLayout::contiguous, ContextLayout::zigzag}) {
          SCOPED_TRACE(std::to_string(cp) + (form == ContextForm::ring ? " ring" : " ulysses"));
          expect_equal({.mesh = {.cp = cp}, .options = options(form, layout)}, plan);
        }
      }
    }
  }
}

TEST(ContextTraining, WithDataAndTensorParallelismItEqualsOneProcess) {
  const auto plan = gpt_plan(small_gpt());
  for (const auto& mesh :
       {MeshShape{.cp = 2, .dp = 2}, {.tp = 2, .cp = 2}, {.tp = 2, .cp = 2, .dp = 2}}) {
    for (const auto form : {ContextForm::ring, ContextForm::ulysses}) {
      for (const bool sequence : {false, true}) {
        expect_equal({.mesh = mesh,
                      .options = options(form, ContextLayout::zigzag),
                      .sequence = sequence,
                      .microbatches = 2},
                     plan);
      }
    }
  }
}

TEST(ContextTraining, EveryRecomputeAndTiedTablesEqualOneProcess) {
  for (const Recompute recompute : {Recompute::selective, Recompute::full}) {
    GptConfig config = small_gpt(DType::f64, true);
    config.recompute = recompute;
    for (const auto form : {ContextForm::ring, ContextForm::ulysses}) {
      expect_equal({.mesh = {.cp = 2}, .options = options(form, ContextLayout::zigzag)},
                   gpt_plan(config));
    }
  }
}

TEST(ContextTraining, EqualsOneProcessOnThreads) {
  expect_equal({.mesh = {.cp = 3}, .as = Ranks::threads}, gpt_plan(gpt_for_three()));
}

// Each breaks a gate.
TEST(ContextTrainingControl, DeliberateFaultsAreCaught) {
  const auto plan = gpt_plan(small_gpt());
  const auto truth = train_alone(plan);
  for (const auto form : {ContextForm::ring, ContextForm::ulysses}) {
    for (const Fault fault : {Fault::positions_reset, Fault::kv_hop_skipped,
                              Fault::kv_gradient_lost, Fault::mean_of_means}) {
      const auto seen = train_on(
          {.mesh = {.cp = 2}, .options = options(form, ContextLayout::zigzag, fault)}, plan, truth);
      EXPECT_GT(seen.first_gradients, 1e-6)
          << "form " << static_cast<int>(form) << ", fault " << static_cast<int>(fault);
    }
  }
}

// ---- J3 -----------------------------------------------------------------------------------------

// Only these places of each sample count.
ContextTraining counted_only(std::size_t first, std::size_t last, int cp, ContextForm form) {
  return {.mesh = {.cp = cp},
          .options = options(form, ContextLayout::zigzag),
          .edit = [=](Batch& batch) {
            std::size_t start = 0;
            for (const std::size_t length : batch.lengths) {
              for (std::size_t place = 0; place < length; ++place) {
                if (place < first || place > last) {
                  batch.targets[start + place] = uncounted;
                }
              }
              start += length;
            }
          }};
}

// Of 8 tokens on 2 ranks, rank 0 has 0, 1, 6, 7: in the second case none of its tokens counts.
TEST(CaseJ3, AShardWithoutACountedTokenGivesTheGradientOfOneProcess) {
  TrainingPlan plan = gpt_plan(small_gpt());
  plan.data.sequence = 8;
  for (const auto form : {ContextForm::ring, ContextForm::ulysses}) {
    expect_equal(counted_only(0, 3, 2, form), plan);
    expect_equal(counted_only(2, 3, 2, form), plan);
  }
}

struct Means {
  double all = 0;
  double own = 0;  // of this rank's counted tokens; 0: none
};

// Losses are given: of two tokens in the vocabulary, the target's logit is 0 and the other's is
// ln(e^loss - 1).
std::vector<Means> means(const std::vector<double>& losses) {
  const TokenBlocks blocks(ContextLayout::zigzag, 2);
  return run_ranks_tested(2, small_job(), [&](Rank& rank) {
    std::vector<std::int32_t> targets;
    const auto places = blocks.places(std::vector{losses.size()}, rank.id());
    const Tensor logits(rank.memory(), DType::f64, {places.size(), 2}, Category::activations, "l");
    for (std::size_t i = 0; i < places.size(); ++i) {
      const double loss = losses[static_cast<std::size_t>(places[i])];
      targets.push_back(loss > 0 ? 0 : uncounted);
      logits.as<double>()[2 * i + 1] = loss > 0 ? logarithm(exponential(loss) - 1) : 3;
    }
    const LossSum own = cross_entropy<double>({rank.memory(), rank.clock()}, logits, targets);
    const Batch batch{.targets = targets};
    std::vector<double> sums{own.loss, static_cast<double>(batch.tokens())};
    all_reduce(rank.world(), buffer_of(std::span(sums)), ReduceOp::sum);
    for (std::size_t i = 0; i < targets.size(); ++i) {
      EXPECT_EQ(own.grad.as<double>()[2 * i] == 0, targets[i] == uncounted);
    }
    return Means{sums[0] / sums[1],
                 batch.tokens() > 0 ? own.loss / static_cast<double>(batch.tokens()) : 0};
  });
}

TEST(CaseJ3, TheMeanIsOverAllCountedTokens) {
  const auto four = means({1, 1, 3, 5, 0, 0, 0, 0});
  for (const Means& rank : four) {
    EXPECT_NEAR(rank.all, 2.5, 1e-15);
  }
  EXPECT_NEAR(std::max(four[0].own, four[1].own), 4.0, 1e-15);
  const auto two = means({0, 0, 3, 5, 0, 0, 0, 0});
  for (const Means& rank : two) {
    EXPECT_NEAR(rank.all, 4.0, 1e-15);
  }
}

// ---- what is refused, and what meta tensors do --------------------------------------------------

TEST(ContextParallel, RefusesHeadsThatUlyssesCannotDivide) {
  GptConfig config = small_gpt();  // 8 heads, 2 KV heads
  EXPECT_THROW(require_usable(config, 1, ContextForm::ulysses, 3), BadUse);
  EXPECT_NO_THROW(require_usable(config, 1, ContextForm::ring, 3));
  EXPECT_NO_THROW(require_usable(config, 2, ContextForm::ulysses, 4));  // 4 heads, 1 KV head
  EXPECT_THROW(require_usable(config, 2, ContextForm::ulysses, 8), BadUse);
  EXPECT_THROW(require_usable(config, 1, ContextForm::ring, 0), BadUse);
  EXPECT_THROW(parse_context_form("rings"), BadUse);
}

struct Counted {
  std::int64_t sent = 0;
  std::int64_t head_pairs = 0;
  std::int64_t peak = 0;
  Time now{0};
  bool operator==(const Counted&) const = default;
};

// One micro-batch, forward and backward.
std::vector<Counted> counted(Backing backing, ContextForm form) {
  JobOptions job = small_job();
  job.memory = backing;
  job.region_bytes = std::size_t{16} << 20;
  return run_ranks_tested(4, job, [&](Rank& rank) {
    const Device device{rank.memory(), rank.clock()};
    const GptConfig config = small_gpt();
    const ContextParallel cp(rank.world(), device, config, options(form, ContextLayout::zigzag));
    const auto model = make_gpt(device, config, 1, {.attention = cp.attention()});
    const TrainingPlan plan = gpt_plan(config);
    model->forward_backward(cp.part_of(make_batch(plan.data, 0, 0, 3)));
    Counted seen{.head_pairs = cp.head_pairs(),
                 .peak = rank.memory().ledger().total_peak,
                 .now = rank.now()};
    for (const TrafficSum& row : rank.traffic().sums()) {
      seen.sent += row.sent_bytes;
    }
    return seen;
  });
}

TEST(ContextParallel, MetaTensorsSendHoldAndTakeTheSame) {
  for (const auto form : {ContextForm::ring, ContextForm::ulysses}) {
    const auto real = counted(Backing::real, form);
    EXPECT_GT(real.front().sent, 0);
    EXPECT_GT(real.front().now.count(), 0);
    EXPECT_EQ(real, counted(Backing::meta, form));
  }
}

}  // namespace
}  // namespace ringside
