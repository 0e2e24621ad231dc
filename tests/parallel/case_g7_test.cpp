// Case G7: frozen parameters under ZeRO and data parallelism.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/parallel/zero_training.hpp"

namespace ringside {
namespace {

std::vector<double> elements(const Tensor& tensor) {
  std::vector<double> all;
  for_each_element(tensor, [&](auto element) { all.push_back(static_cast<double>(element)); });
  return all;
}

void freeze_half(Model& model) {
  const auto all = flatten(model.layers());
  for (std::size_t i = 0; i < all.size() / 2; ++i) {
    freeze(*all[i]);
  }
  freeze(*all.back());  // beside a trainable one in its layer
}

TEST(CaseG7, FrozenParametersKeepTheirBitsAndHaveNoBucketAndNoState) {
  auto plan = small_plan(6, DType::f64);
  plan.optimizer.kind = "adamw";
  const auto truth = train_in_one_process(plan, [&](Model& model) {
    freeze_half(model);
    return [&](int step) {
      zero_gradients(flatten(model.layers()));
      const Batch batch = make_batch(plan.data, static_cast<std::uint64_t>(step), 0, plan.batch);
      return StepSum{model.forward_backward(batch), batch.tokens()};
    };
  });
  for (const int stage : {1, 2, 3}) {
    run_ranks_tested(3, {}, [&](Rank& rank) {
      const auto model = make_model({rank.memory(), rank.clock()}, plan.model, plan.data.seed);
      freeze_half(*model);
      std::vector<std::vector<double>> before;
      std::size_t learning = 0;
      for (const Parameter* p : flatten(model->layers())) {
        before.push_back(elements(p->value));
        learning += p->trainable ? p->value.count() : 0;
      }
      const auto layers = model->layers();
      Zero zero(rank.world(), rank.memory(), *model, {.stage = stage});
      const auto optimizer = make_optimizer(plan.optimizer, rank.memory(), zero.parameters());
      DataParallelStep step(rank.world(), zero, *model, plan, 1);
      StepRecord last;
      train(plan, zero.parameters(), *optimizer, std::ref(step),
            [&](int, const StepRecord& record) {
              zero.end_update();
              last = record;
            },
            {.norm = [&] { return zero.gradient_norm(); }});
      std::size_t in_buckets = 0;
      for (const Bucket& bucket : zero.buckets()) {
        in_buckets += bucket.count;
      }
      EXPECT_EQ(in_buckets, learning);
      const auto all = flatten(model->layers());
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (!all[i]->trainable) {
          EXPECT_EQ(elements(all[i]->value), before[i]) << all[i]->name;
        }
      }
      std::size_t state = 0;
      for (std::size_t i = 0; i < zero.pieces().size(); ++i) {
        const ShardPiece& piece = zero.pieces()[i];
        state += 16 * piece.count;
        const auto place = std::ranges::find(all, layers[piece.layer][piece.tensor]) - all.begin();
        const auto& expected = truth.back().parameters[static_cast<std::size_t>(place)];
        for (std::size_t e = 0; e < piece.count; ++e) {
          EXPECT_NEAR(last.parameters[i][e], expected[piece.first + e], 1e-9);
        }
      }
      const auto optimizer_state = static_cast<std::size_t>(Category::optimizer_state);
      EXPECT_EQ(rank.memory().ledger().current[optimizer_state], static_cast<std::int64_t>(state));
    });
  }
}

std::vector<Parameter*> frozen_of(const std::vector<Parameter*>& all) {
  std::vector<Parameter*> frozen;
  std::ranges::copy_if(all, std::back_inserter(frozen), [](Parameter* p) { return !p->trainable; });
  return frozen;
}

constexpr int unfrozen_at = 2;  // the third step

std::vector<StepRecord> alone_unfreezing(const TrainingPlan& plan) {
  return train_in_one_process(plan, [&](Model& model) {
    freeze_half(model);
    return [&](int step) {
      static DeviceMemory late(1 << 20);
      const auto all = flatten(model.layers());
      for (Parameter* p : step == unfrozen_at ? frozen_of(all) : std::vector<Parameter*>{}) {
        unfreeze(*p, late);
      }
      zero_gradients(all);
      const Batch batch = make_batch(plan.data, static_cast<std::uint64_t>(step), 0, plan.batch);
      return StepSum{model.forward_backward(batch), batch.tokens()};
    };
  });
}

std::size_t in_buckets(const DataParallel& dp) {
  return std::accumulate(dp.buckets().begin(), dp.buckets().end(), std::size_t{0},
                         [](std::size_t sum, const Bucket& b) { return sum + b.count; });
}

TEST(CaseG7, UnderDataParallelismFrozenParametersTravelNowhereUntilTheyAreUnfrozenAtStepThree) {
  auto plan = small_plan(6, DType::f64);
  plan.steps = 4;
  const auto truth = alone_unfreezing(plan);
  run_ranks_tested(3, {}, [&](Rank& rank) {
    const auto model = make_model({rank.memory(), rank.clock()}, plan.model, plan.data.seed);
    freeze_half(*model);
    const auto all = flatten(model->layers());
    std::size_t learning = 0;
    std::size_t everything = 0;
    for (const Parameter* p : all) {
      everything += p->value.count();
      learning += p->trainable ? p->value.count() : 0;
    }
    auto dp = std::make_unique<DataParallel>(rank.world(), rank.memory(), model->layers(),
                                             DataParallelOptions{});
    dp->broadcast_weights();
    EXPECT_EQ(in_buckets(*dp), learning);
    const auto optimizer = make_optimizer(plan.optimizer, rank.memory(), all);
    train(
        plan, all, *optimizer,
        [&](int step) {
          if (step == unfrozen_at) {
            for (Parameter* p : frozen_of(all)) {
              unfreeze(*p, rank.memory());
            }
            dp = std::make_unique<DataParallel>(rank.world(), rank.memory(), model->layers(),
                                                DataParallelOptions{});
            EXPECT_EQ(in_buckets(*dp), everything);
          }
          return DataParallelStep(rank.world(), *dp, *model, plan, 1)(step);
        },
        [&](int step, const StepRecord& record) {
          const StepRecord& expected = truth[static_cast<std::size_t>(step)];
          EXPECT_EQ(record.gradients.front().empty(), step < unfrozen_at);
          EXPECT_TRUE(deviation(expected.gradients, record.gradients, DType::f64).absolute < 1e-12);
          EXPECT_TRUE(deviation(expected.parameters, record.parameters, DType::f64).absolute <
                      1e-12);
        });
  });
  EXPECT_EQ(truth[0].parameters.front(), truth[1].parameters.front());
  EXPECT_NE(truth[1].parameters.front(), truth[2].parameters.front());
}

}  // namespace
}  // namespace ringside
