// Cases G1, G2, G4, G5, G8 and M5: what a sharded optimizer can get wrong.
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
  const auto large = cut_buckets({{266240}}, {.alignment = 1536}, 4, 768).front();
  EXPECT_EQ(shard_size(large, 768), 348U);
  EXPECT_EQ(large.padded - large.count, 1024U);
  EXPECT_EQ(real_elements(large, 768, 764), 348U);
  EXPECT_EQ(real_elements(large, 768, 765), 20U);
  EXPECT_EQ(real_elements(large, 768, 766), 0U);
  EXPECT_EQ(real_elements(large, 768, 767), 0U);
  EXPECT_TRUE(pieces_of({large}, 768, 767).empty());

  const auto small = cut_buckets({{5}}, {.alignment = 8}, 4, 4).front();
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
  std::function<void(Optimizer&)> before{};  // the first step
};

struct GivenEnd {
  double norm = 0;
  std::vector<std::int64_t> counted_steps{};  // by piece
  std::vector<double> held{};                 // this rank's pieces, bucket after bucket
  std::vector<double> masters{};              // of the pieces, in the same order; bf16 only
  std::vector<double> whole{};                // stages 1 and 2: all parameters
};

void append(std::vector<double>& all, const Tensor& tensor) {
  const auto more = elements(tensor);
  all.insert(all.end(), more.begin(), more.end());
}

// A step on one token in all; every rank adds its gradients.
GivenEnd run_given(Rank& rank, const GivenRun& run, const ZeroOptions& options) {
  const auto model = given_model({rank.memory(), rank.clock()}, run.layers, run.dtype, run.value);
  Zero zero(rank.world(), rank.memory(), *model, options);
  const auto optimizer = make_optimizer(run.optimizer, rank.memory(), zero.parameters());
  if (run.before) {
    run.before(*optimizer);
  }
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
  for (const OptimizerState& of : optimizer->state()) {
    end.counted_steps.push_back(*of.steps);
    append(end.held, of.parameter->value);
    if (run.dtype == DType::bf16 && run.optimizer.masters) {
      append(end.masters, of.tensors.back());
    }
  }
  for (const Parameter* p : flatten(model->layers())) {
    if (options.stage < 3) {
      append(end.whole, p->value);
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
      const auto end = run_given(rank, part, {.stage = stage, .buckets = {.alignment = 8}});
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

struct TiedTable {
  std::vector<double> at_end{};  // the shards one after the other: rows 0 to 4
  std::vector<std::size_t> shards{};
};

// Three steps on whole rows of 12 elements: the table, padded to `rows` rows, is a bucket alone.
TiedTable train_tied_table(const TrainingPlan& plan, int ranks, std::size_t rows,
                           const std::vector<StepRecord>& truth, Fault fault) {
  const auto shards = run_ranks_tested(ranks, {}, [&](Rank& rank) {
    const auto model = make_model({rank.memory(), rank.clock()}, plan.model, plan.data.seed);
    Zero zero(rank.world(), rank.memory(), *model,
              {.stage = 3, .buckets = {.limit = Bytes{1}, .alignment = 12 * rows}, .fault = fault});
    const auto optimizer = make_optimizer(plan.optimizer, rank.memory(), zero.parameters());
    const auto share = 8 / static_cast<std::size_t>(rank.size());
    DataParallelStep step(
        rank.world(), zero, *model,
        [&](int s, int) {
          return tokens_of_5(s, share * static_cast<std::size_t>(rank.id()), share);
        },
        1);
    std::vector<double> table;
    train(plan, zero.parameters(), *optimizer, std::ref(step),
          [&](int s, const StepRecord& record) {
            table.clear();
            for (std::size_t i = 0; i < zero.pieces().size(); ++i) {
              if (zero.pieces()[i].layer == 0) {
                table = record.parameters[i];
              }
            }
            const StepRecord& other = truth[static_cast<std::size_t>(s)];
            const auto whole = whole_tensors(record, zero.pieces(), tensors_of(*model), other);
            const auto off = deviation(other.parameters, whole.parameters, DType::f64);
            EXPECT_TRUE(fault != Fault::none || off.absolute < 1e-12) << s;
          });
    return table;
  });
  TiedTable table;
  for (const auto& shard : shards) {
    table.at_end.insert(table.at_end.end(), shard.begin(), shard.end());
    table.shards.push_back(shard.size() / 12);
  }
  return table;
}

// From a first step at which every row of the tied table has a gradient.
TEST(CaseG4, ATiedTableOf5RowsCutUnevenlyEqualsOneProcess) {
  TrainingPlan plan = small_gpt_plan(1, true, DType::f64);
  std::get<GptConfig>(plan.model).vocab = 5;
  const auto truth = train_alone_on(plan, [](int step) { return tokens_of_5(step, 0, 8); });
  const std::vector<double>& expected = truth[2].parameters[0];
  const auto two = train_tied_table(plan, 2, 6, truth, Fault::none);
  EXPECT_EQ(two.shards, (std::vector<std::size_t>{3, 2}));
  const auto four = train_tied_table(plan, 4, 8, truth, Fault::none);
  EXPECT_EQ(four.shards, (std::vector<std::size_t>{2, 2, 1, 0}));
  for (const TiedTable& table : {two, four}) {
    EXPECT_LT(deviation({expected}, {table.at_end}, DType::f64).absolute, 1e-12);
    for (std::size_t e = 0; e < expected.size(); ++e) {
      EXPECT_NE(truth[2].gradients[0][e], 0) << e;
      EXPECT_NE(table.at_end[e], truth[1].parameters[0][e]) << "row " << e / 12;
    }
  }
  const auto faulty = train_tied_table(plan, 4, 8, truth, Fault::shard_offset_wrong);
  EXPECT_GT(deviation({expected}, {faulty.at_end}, DType::f64).absolute, 1e-6) << "the control";
}

// ---- G5: Adam's step counted per sub-group ------------------------------------------------------

// Three buckets, 2 elements of each on each of two ranks.
GivenRun three_buckets() {
  const GradientOf one = [](std::size_t) { return 0.5; };  // of each of two ranks
  return {.layers = {{4, one}, {4, one}, {4, one}},
          .optimizer = {.kind = "adamw", .lr = 0.01, .weight_decay = 0}};
}

TEST(CaseG5, EveryElementOfEveryBucketMovesByTheLearningRate) {
  for (const int stage : {1, 2, 3}) {
    run_ranks_tested(2, small_job(), [&](Rank& rank) {
      const auto end =
          run_given(rank, three_buckets(), {.stage = stage, .buckets = {.limit = Bytes{32}}});
      ASSERT_EQ(end.held.size(), 6U);
      for (const double value : end.held) {
        EXPECT_NEAR(value, -0.01, 1e-9) << stage;
      }
      EXPECT_EQ(end.counted_steps, (std::vector<std::int64_t>{1, 1, 1})) << stage;
    });
  }
}

// The fault: one counter for all pieces, which the third finds at 2.
TEST(CaseG5Control, APieceThatCountsAThirdStepMovesBy0639OfTheLearningRate) {
  run_ranks_tested(2, small_job(), [&](Rank& rank) {
    GivenRun run = three_buckets();
    run.before = [](Optimizer& optimizer) { *optimizer.state().back().steps = 2; };
    const auto end = run_given(rank, run, {.stage = 3, .buckets = {.limit = Bytes{32}}});
    ASSERT_EQ(end.held.size(), 6U);
    for (std::size_t i = 0; i < end.held.size(); ++i) {
      EXPECT_NEAR(end.held[i] / -0.01, i < 4 ? 1 : 0.639, 5e-4) << i;
    }
    EXPECT_EQ(end.counted_steps, (std::vector<std::int64_t>{1, 1, 3}));
  });
}

// ---- G8: small updates to half-precision weights ------------------------------------------------

constexpr int g8_steps = 100;

// Element i moves by -6e-4 (1 + i / 8) a step.
double g8_gradient(std::size_t i) {
  return 1 + static_cast<double>(i) / 8;
}

// What f32 arithmetic makes of 1 in as many steps: 0.94 for element 0, and 0.0075 less for each
// next, so that every element has a bf16 neighbour of its own.
std::vector<double> g8_masters() {
  std::vector<double> masters;
  for (std::size_t i = 0; i < 6; ++i) {
    float master = 1;
    for (int step = 0; step < g8_steps; ++step) {
      master -= 6e-4F * static_cast<float>(g8_gradient(i));
    }
    EXPECT_NEAR(master, 1 - 0.06 * g8_gradient(i), 5e-6);
    masters.push_back(master);
  }
  return masters;
}

GivenRun g8_run(bool masters) {
  return {.layers = {{6, [](std::size_t i) { return g8_gradient(i) / 2; }}},  // of two ranks
          .optimizer = {.kind = "sgd", .lr = 6e-4, .momentum = 0, .masters = masters},
          .steps = g8_steps,
          .dtype = DType::bf16,
          .value = 1};
}

TEST(CaseG8, EveryRanksBf16CopyIsTheRoundingOfItsMaster) {
  const auto masters = g8_masters();
  std::vector<double> rounded;
  for (const double master : masters) {
    rounded.push_back(static_cast<float>(Bf16(static_cast<float>(master))));
  }
  EXPECT_NEAR(masters.front(), 0.94, 5e-6);
  EXPECT_EQ(rounded.front(), 0.94140625);
  for (const int stage : {1, 2, 3}) {
    run_ranks_tested(2, small_job(), [&](Rank& rank) {
      const auto end = run_given(rank, g8_run(true), {.stage = stage});
      const auto first = 3 * rank.id();
      const auto mine = [&](const std::vector<double>& all) {
        return std::vector(all.begin() + first, all.begin() + first + 3);
      };
      EXPECT_EQ(end.masters, mine(masters)) << stage;
      EXPECT_EQ(end.held, mine(rounded)) << stage;
      if (stage < 3) {
        EXPECT_EQ(end.whole, rounded) << stage;
      }
    });
  }
}

TEST(CaseG8, WithoutMastersNoUpdateIsKept) {
  for (const int stage : {1, 2, 3}) {
    run_ranks_tested(2, small_job(), [&](Rank& rank) {
      const auto end = run_given(rank, g8_run(false), {.stage = stage});
      EXPECT_EQ(end.masters, std::vector<double>());
      EXPECT_EQ(end.held, std::vector<double>(3, 1.0)) << stage;
    });
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
