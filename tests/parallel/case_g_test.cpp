// Cases G1, G2, G4, G5, G7, G8 and M5: what a sharded optimizer can get wrong.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tests/parallel/given_gradients.hpp"
#include "tests/parallel/zero_training.hpp"

namespace ringside {
namespace {

std::vector<double> elements(const Tensor& tensor) {
  std::vector<double> all;
  for_each_element(tensor, [&](auto element) { all.push_back(static_cast<double>(element)); });
  return all;
}

// ---- G1: padding that spans several ranks -------------------------------------------------------

TEST(CaseG1, TheShardMapLeavesThePaddingToTheLastRanks) {
  const auto large = cut_buckets({{266240}}, Bytes{1 << 30}, 4, 768, 1536).front();
  EXPECT_EQ(shard_size(large, 768), 348U);
  EXPECT_EQ(large.padded - large.count, 1024U);
  EXPECT_EQ(real_elements(large, 768, 764), 348U);
  EXPECT_EQ(real_elements(large, 768, 765), 20U);
  EXPECT_EQ(real_elements(large, 768, 766), 0U);
  EXPECT_EQ(real_elements(large, 768, 767), 0U);
  EXPECT_TRUE(pieces_of({large}, 768, 767).empty());

  const auto small = cut_buckets({{5}}, Bytes{1 << 30}, 4, 4, 8).front();
  EXPECT_EQ(shard_size(small, 4), 2U);
  const std::vector<std::size_t> real{2, 2, 1, 0};
  for (int r = 0; r < 4; ++r) {
    EXPECT_EQ(real_elements(small, 4, r), real[static_cast<std::size_t>(r)]);
  }
}

struct GivenRun {
  std::vector<GivenLayer> layers;
  OptimizerConfig optimizer;
  double clip = 0;
  int steps = 1;
  DType dtype = DType::f64;
  double value = 0;
};

struct GivenEnd {
  double norm = 0;
  std::int64_t counted_steps = 0;
  std::vector<double> held{};   // this rank's pieces, bucket after bucket
  std::vector<double> whole{};  // stages 1 and 2: all parameters
};

// A step on one token in all; every rank adds its gradients.
GivenEnd run_given(Rank& rank, const GivenRun& run, const ZeroOptions& options) {
  const auto model = given_model({rank.memory(), rank.clock()}, run.layers, run.dtype, run.value);
  Zero zero(rank.world(), rank.memory(), *model, options);
  const auto optimizer = make_optimizer(run.optimizer, rank.memory(), zero.parameters());
  DataParallelStep step(
      rank.world(), zero, *model,
      [&](int, int) { return rank.id() == 0 ? one_token() : Batch{.context = 1}; }, 1);
  TrainingPlan plan;
  plan.steps = run.steps;
  plan.clip = run.clip;
  GivenEnd end;
  train(plan, zero.parameters(), *optimizer, std::ref(step),
        [&](int, const StepRecord& record) {
          zero.end_update();
          end.norm = record.gradient_norm;
        },
        {.norm = [&] { return zero.gradient_norm(); }});
  end.counted_steps = optimizer->steps();
  for (const Parameter* piece : zero.parameters()) {
    const auto more = elements(piece->value);
    end.held.insert(end.held.end(), more.begin(), more.end());
  }
  for (const Parameter* p : flatten(model->layers())) {
    if (options.stage < 3) {
      const auto more = elements(p->value);
      end.whole.insert(end.whole.end(), more.begin(), more.end());
    }
  }
  return end;
}

TEST(CaseG1, PaddingIsInNoNormNoDecayAndNoGatheredTensor) {
  const GivenRun run{.layers = {{5, [](std::size_t i) { return static_cast<double>(i + 1); }}},
                     .optimizer = {.kind = "adamw", .lr = 0.5, .weight_decay = 0.5},
                     .value = 1};
  const auto alone = run_ranks_tested(
      1, small_job(), [&](Rank& rank) { return run_given(rank, run, {.stage = 1}).whole; });
  for (const int stage : {1, 2, 3}) {
    run_ranks_tested(4, small_job(), [&](Rank& rank) {
      GivenRun part = run;  // the sum over the ranks is the same
      part.layers[0].gradient = [](std::size_t i) { return static_cast<double>(i + 1) / 4; };
      const auto end = run_given(rank, part, {.stage = stage, .alignment = 8});
      EXPECT_DOUBLE_EQ(end.norm, std::sqrt(55.0)) << stage;
      const std::vector<std::size_t> real{2, 2, 1, 0};
      const auto r = static_cast<std::size_t>(rank.id());
      ASSERT_EQ(end.held.size(), real[r]);
      for (std::size_t i = 0; i < real[r]; ++i) {
        EXPECT_EQ(end.held[i], alone.front()[2 * r + i]);
      }
      if (stage < 3) {
        EXPECT_EQ(end.whole, alone.front());
      }
    });
  }
}

// ---- G2: a local norm used as the global one ----------------------------------------------------

TEST(CaseG2, TheNormIs5AndTheClippedGradient06And08OnAnyNumberOfRanks) {
  for (const int ranks : {1, 2, 4}) {
    for (const int stage : {2, 3}) {
      for (const Fault fault : {Fault::none, Fault::norm_of_rank}) {
        const auto norms = run_ranks_tested(ranks, small_job(), [&](Rank& rank) {
          const double scale = 1.0 / rank.size();
          const GivenRun run{.layers = {{4,
                                         [=](std::size_t i) {
                                           return i == 0 ? 3 * scale : i == 3 ? 4 * scale : 0.0;
                                         }}},
                             .optimizer = {.kind = "sgd", .lr = 1, .momentum = 0},
                             .clip = 1};
          const auto end = run_given(rank, run, {.stage = stage, .fault = fault});
          if (fault == Fault::none) {
            const std::vector<double> all{-0.6, 0, 0, -0.8};
            const std::size_t first = all.size() / static_cast<std::size_t>(rank.size()) *
                                      static_cast<std::size_t>(rank.id());
            for (std::size_t i = 0; i < end.held.size(); ++i) {
              EXPECT_DOUBLE_EQ(end.held[i], all[first + i]) << ranks << " stage " << stage;
            }
          }
          return end.norm;
        });
        for (const double norm : norms) {
          EXPECT_EQ(norm == 5, fault == Fault::none || ranks == 1) << norm;
        }
      }
    }
  }
}

// ---- G4: tied weights with uneven shards --------------------------------------------------------

Batch tokens_of_5(int step, std::size_t first, std::size_t count) {
  Batch batch{.context = 1, .lengths = std::vector<std::size_t>(count / 2, 2)};
  for (std::size_t t = first; t < first + count; ++t) {
    batch.contexts.push_back(
        static_cast<std::int32_t>((3 * t + static_cast<std::size_t>(step)) % 4));
    batch.targets.push_back(static_cast<std::int32_t>((2 * t + 1) % 5));
  }
  return batch;
}

TEST(CaseG4, ATiedTableOf5RowsCutUnevenlyEqualsOneProcess) {
  TrainingPlan plan = small_gpt_plan(1, true, DType::f64);
  std::get<GptConfig>(plan.model).vocab = 5;
  const auto truth = train_alone_on(plan, [](int step) { return tokens_of_5(step, 0, 8); });
  for (const int ranks : {2, 4}) {
    const auto held = run_ranks_tested(ranks, {}, [&](Rank& rank) {
      const auto model = make_model({rank.memory(), rank.clock()}, plan.model, plan.data.seed);
      Zero zero(rank.world(), rank.memory(), *model, {.stage = 3, .alignment = 64});
      const auto optimizer = make_optimizer(plan.optimizer, rank.memory(), zero.parameters());
      const auto share = 8 / static_cast<std::size_t>(rank.size());
      DataParallelStep step(
          rank.world(), zero, *model,
          [&](int s, int) {
            return tokens_of_5(s, share * static_cast<std::size_t>(rank.id()), share);
          },
          1);
      std::size_t in_table = 0;
      train(plan, zero.parameters(), *optimizer, std::ref(step),
            [&](int s, const StepRecord& record) {
              const StepRecord& other = truth[static_cast<std::size_t>(s)];
              const auto whole = whole_tensors(record, zero.pieces(), tensors_of(*model), other);
              const auto off = deviation(other.parameters, whole.parameters, DType::f64);
              EXPECT_LT(off.absolute, 1e-12);
            });
      for (const ShardPiece& piece : zero.pieces()) {
        in_table += piece.layer == 0 ? piece.count : 0;
      }
      return in_table;
    });
    EXPECT_EQ(std::accumulate(held.begin(), held.end(), std::size_t{0}), 5U * 12U);
    EXPECT_NE(held.front(), held.back()) << "uneven";
  }
  for (std::size_t row = 0; row < 5; ++row) {
    bool changed = false;
    for (std::size_t c = 12 * row; c < 12 * (row + 1); ++c) {
      changed |= truth[2].parameters[0][c] != truth[0].parameters[0][c];
    }
    EXPECT_TRUE(changed) << row;
  }
}

// ---- G5: Adam's step counted per sub-group ------------------------------------------------------

TEST(CaseG5, EveryElementOfEveryBucketMovesByTheLearningRate) {
  const GradientOf one = [](std::size_t) { return 0.5; };  // of each of two ranks
  const GivenRun run{.layers = {{4, one}, {4, one}, {4, one}},
                     .optimizer = {.kind = "adamw", .lr = 0.01, .weight_decay = 0}};
  for (const int stage : {1, 2, 3}) {
    run_ranks_tested(2, small_job(), [&](Rank& rank) {
      const auto end = run_given(rank, run, {.stage = stage, .bucket = Bytes{32}});
      ASSERT_EQ(end.held.size(), 6U);
      for (const double value : end.held) {
        EXPECT_NEAR(value, -0.01, 1e-9) << "0.00639 where a sub-group counts a third step";
      }
      EXPECT_EQ(end.counted_steps, 1);
    });
  }
}

// ---- G7: frozen parameters ----------------------------------------------------------------------

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
      const auto trained = trainable(model->layers());
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
        const auto place = std::ranges::find(all, trained[piece.layer][piece.tensor]) - all.begin();
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

// ---- G8: small updates to half-precision weights ------------------------------------------------

TEST(CaseG8, EveryRanksBf16CopyIsTheRoundingOfItsMaster) {
  for (const bool masters : {true, false}) {
    const GivenRun run{.layers = {{6, [](std::size_t) { return 0.5; }}},
                       .optimizer = {.kind = "sgd", .lr = 6e-4, .momentum = 0, .masters = masters},
                       .steps = 100,
                       .dtype = DType::bf16,
                       .value = 1};
    for (const int stage : {1, 2, 3}) {
      run_ranks_tested(2, small_job(), [&](Rank& rank) {
        const auto end = run_given(rank, run, {.stage = stage});
        EXPECT_EQ(end.held, std::vector<double>(3, masters ? 0.94140625 : 1.0)) << stage;
        if (stage < 3) {
          EXPECT_EQ(end.whole, std::vector<double>(6, masters ? 0.94140625 : 1.0)) << stage;
        }
      });
    }
  }
}

// ---- M5: model state by stage -------------------------------------------------------------------

// Weights, gradients, masters and optimizer state of a million bf16 parameters under Adam.
std::int64_t model_state(int ranks, int stage) {
  JobOptions job;
  job.region_bytes = 64UL << 20;
  const auto bytes = run_ranks_tested(ranks, job, [&](Rank& rank) {
    const auto model = given_model({rank.memory(), rank.clock()},
                                   {{1'000'000, [](std::size_t) { return 1.0; }}}, DType::bf16);
    Zero zero(rank.world(), rank.memory(), *model, {.stage = stage});
    const auto optimizer = make_optimizer({.kind = "adamw"}, rank.memory(), zero.parameters());
    const auto& now = rank.memory().ledger().current;
    std::int64_t sum = 0;
    for (const Category category : {Category::weights, Category::gradients,
                                    Category::master_weights, Category::optimizer_state}) {
      sum += now[static_cast<std::size_t>(category)];
    }
    return sum;
  });
  EXPECT_EQ(bytes.front(), bytes.back());
  return bytes.front();
}

TEST(CaseM5, AMillionParametersTakeWhatTheFormulasSay) {
  const std::vector<std::pair<int, std::vector<std::int64_t>>> published{
      {2, {10'000'000, 9'000'000, 8'000'000}},
      {4, {7'000'000, 5'500'000, 4'000'000}},
      {8, {5'500'000, 3'750'000, 2'000'000}}};
  for (const auto& [ranks, by_stage] : published) {
    for (int stage = 1; stage <= 3; ++stage) {
      EXPECT_EQ(model_state(ranks, stage), by_stage[static_cast<std::size_t>(stage - 1)])
          << ranks << " ranks, stage " << stage;
    }
  }
}

}  // namespace
}  // namespace ringside
