// Tensor and sequence parallelism, case by case: where others went wrong.
#include <gtest/gtest.h>

#include <cmath>

#include "runtime/errors.hpp"
#include "tests/parallel/tensor_training.hpp"

namespace ringside {
namespace {

// ---- The state ----------------------------------------------------------------------------------

// Every rank's parameters after the last step, one after the other.
std::vector<std::vector<double>> parameters_of(const TensorTraining& on, const TrainingPlan& plan) {
  return run_ranks_tested(on.mesh.ranks(), job_of(on, plan), [&](Rank& rank) {
    std::vector<double> all;
    train_tensor_rank(rank, on, plan, [&](int, const StepRecord& record, const auto&) {
      all.clear();
      for (const auto& tensor : record.parameters) {
        all.insert(all.end(), tensor.begin(), tensor.end());
      }
    });
    return all;
  });
}

// The whole state, put together from the ranks' parts by their layouts: every element is there as
// often as it is held, with the same bits, and padding is 0.
std::vector<std::vector<double>> gathered(const GptConfig& config, int tp,
                                          const std::vector<std::vector<double>>& of_rank) {
  std::vector<std::vector<double>> wholes;
  std::vector<std::vector<int>> held;
  for (int r = 0; r < tp; ++r) {
    DeviceMemory memory(std::size_t{16} << 20);
    ComputeClock clock;
    const auto model = make_gpt({memory, clock}, config, 1, {.cut = {r, tp}});
    auto from = of_rank[static_cast<std::size_t>(r)].begin();
    std::size_t t = 0;
    for (const Parameter* p : flatten(model->layers())) {
      std::size_t whole = 1;
      for (const std::size_t extent : p->layout.whole) {
        whole *= extent;
      }
      wholes.resize(std::max(wholes.size(), t + 1));
      held.resize(wholes.size());
      wholes[t].resize(whole);
      held[t].resize(whole);
      for (std::size_t i = 0; i < p->value.count(); ++i, ++from) {
        const auto place = place_in_whole(p->layout, p->value.shape(), i);
        if (!place) {
          EXPECT_EQ(*from, 0) << p->name << ": padding has learnt";
          continue;
        }
        EXPECT_TRUE(held[t][*place] == 0 || wholes[t][*place] == *from) << p->name;
        wholes[t][*place] = *from;
        ++held[t][*place];
      }
      ++t;
      if (r + 1 == tp) {
        EXPECT_EQ(held[t - 1], std::vector<int>(whole, p->layout.copies)) << p->name;
      }
    }
    EXPECT_EQ(from, of_rank[static_cast<std::size_t>(r)].end());
  }
  return wholes;
}

TEST(TensorState, OfTheRanksIsTheStateOfOneProcess) {
  for (const int tp : {2, 4}) {
    for (const bool sequence : {false, true}) {
      const auto config = small_gpt();
      const auto plan = gpt_plan(config);
      const TensorTraining on{.mesh = {.tp = tp}, .options = {.sequence = sequence}};
      const auto whole = gathered(config, tp, parameters_of(on, plan));
      const auto seen = deviation(train_alone(plan).back().parameters, whole, DType::f64);
      EXPECT_LT(seen.absolute, 1e-12) << tp << sequence;
    }
  }
}

// ---- G3 -----------------------------------------------------------------------------------------

// A clipped step, lr 1, on a replicated parameter whose gradient is 3 and a sharded one of 4
// elements whose gradients are 2 each: their norm is 4.
struct ClippedStep {
  double norm = 0;
  double factor = 0;
  std::vector<double> values{};  // the replicated one, then the sharded elements that are here
};

ClippedStep clipped_step(DeviceMemory& memory, std::size_t elements, Layout sharded_layout,
                         int copies, TensorParallel* tp) {
  const auto made = [&](const char* name, std::size_t count, Layout layout) {
    return Parameter{.name = name,
                     .value = Tensor(memory, DType::f64, {count}, Category::weights, name),
                     .grad = Tensor(memory, DType::f64, {count}, Category::gradients, name),
                     .layout = std::move(layout)};
  };
  Parameter replicated = made("replicated", 1, {.whole = {1}, .copies = copies});
  Parameter sharded = made("sharded", elements, std::move(sharded_layout));
  const std::vector<Parameter*> all{&replicated, &sharded};
  TrainingPlan plan;
  plan.optimizer = {.kind = "sgd", .lr = 1, .momentum = 0};
  plan.steps = 1;
  plan.clip = 1;
  const auto optimizer = make_optimizer(plan.optimizer, memory, all);
  TrainingSeams seams;
  if (tp != nullptr) {
    seams.norm = [&] { return norm_of(tp->sum_of_squares(all), all); };
  }
  ClippedStep end;
  train(
      plan, all, *optimizer,
      [&](int) {
        replicated.grad.as<double>()[0] = 3;
        std::ranges::fill(sharded.grad.as<double>(), 2.0);
        return StepSum{0, 1};
      },
      [&](int, const StepRecord& record) {
        end = {record.gradient_norm, record.clip_factor, record.parameters[0]};
        end.values.insert(end.values.end(), record.parameters[1].begin(),
                          record.parameters[1].end());
      },
      seams);
  return end;
}

// Of every rank of four.
std::vector<std::vector<double>> clipped_on_four(Fault fault) {
  return run_ranks_tested(4, small_job(), [&](Rank& rank) {
    TensorParallel tp(rank.world(), rank.memory(), small_gpt(), {.fault = fault});
    const auto end = clipped_step(
        rank.memory(), 1,
        {.whole = {4}, .dimension = 0, .first = static_cast<std::size_t>(rank.id())}, 4, &tp);
    return std::vector{end.norm, end.factor, end.values[0], end.values[1]};
  });
}

TEST(CaseG3, AReplicatedParameterCountsOnceInTheNormAndTheStepIsThatOfOneRank) {
  DeviceMemory memory(1 << 20);
  const ClippedStep alone = clipped_step(memory, 4, {.whole = {4}}, 1, nullptr);
  EXPECT_EQ(alone.norm, 5);
  EXPECT_EQ(alone.factor, 0.2);
  for (const auto& rank : clipped_on_four(Fault::none)) {
    EXPECT_EQ(rank, (std::vector{alone.norm, alone.factor, alone.values[0], alone.values[1]}));
  }
  EXPECT_DOUBLE_EQ(alone.values[0], -0.6);
  EXPECT_EQ(alone.values, (std::vector{alone.values[0], -0.4, -0.4, -0.4, -0.4}));
}

TEST(CaseG3Control, CountedOncePerRankTheNormIs7211AndTheFactor0139) {
  for (const auto& rank : clipped_on_four(Fault::norm_counted_per_rank)) {
    EXPECT_NEAR(rank[0], 7.211, 1e-3);
    EXPECT_NEAR(rank[1], 0.139, 1e-3);
  }
}

// ---- H1 -----------------------------------------------------------------------------------------

// V = 10 on 4 ranks, padded to 12: of equal logits.
double loss_of_zeros(Fault fault) {
  const auto losses = run_ranks_tested(4, small_job(), [&](Rank& rank) {
    GptConfig config = small_gpt();
    config.vocab = 10;
    TensorParallel tp(rank.world(), rank.memory(), config, {.fault = fault});
    const GptShare share = share_of(config, tp.cut());
    const Tensor logits(rank.memory(), DType::f64, {1, share.vocab.count}, Category::activations,
                        "logits");
    const std::vector<std::int32_t> targets{9};
    return cross_entropy<double>({rank.memory(), rank.clock()}, logits, targets,
                                 {share.vocab.first, share.real, 10}, *tp.seam())
        .loss;
  });
  EXPECT_EQ(losses.front(), losses.back());
  return losses.front();
}

TEST(CaseH1, TheLossOfEqualLogitsIsThatOfTheRealTokens) {
  EXPECT_NEAR(loss_of_zeros(Fault::none), 2.302585092994046, 1e-15);
  EXPECT_NEAR(loss_of_zeros(Fault::padding_counted), 2.484907, 1e-6);  // ln 12
}

constexpr std::int32_t vocabulary = 50257;

// Bytes as the last 256 tokens of the vocabulary, on the short shard.
Batch last_tokens(const DataSource& data, int step) {
  Batch batch = make_batch(data, static_cast<std::uint64_t>(step), 0, 1);
  for (auto* tokens : {&batch.contexts, &batch.targets}) {
    for (std::int32_t& token : *tokens) {
      token += vocabulary - 256;
    }
  }
  return batch;
}

TrainingPlan plan_of_50257() {
  GptConfig config{.layers = 1,
                   .hidden = 4,
                   .heads = 2,
                   .kv_heads = 1,
                   .ffn = 4,
                   .vocab = vocabulary,
                   .dtype = DType::f64};
  TrainingPlan plan = gpt_plan(config, "adamw");
  plan.optimizer.lr = 0.01;
  plan.steps = 200;
  plan.data.sequence = 4;
  return plan;
}

// The losses of 200 steps; `tp` none: alone.
std::vector<double> losses_of_50257(const TrainingPlan& plan, DeviceMemory& memory,
                                    ComputeClock& clock, TensorParallel* tp) {
  const auto& config = std::get<GptConfig>(plan.model);
  const auto model =
      tp != nullptr ? make_gpt({memory, clock}, config, 1, {.cut = tp->cut(), .seam = tp->seam()})
                    : make_gpt({memory, clock}, config, 1);
  const auto parameters = flatten(model->layers());
  const auto optimizer = make_optimizer(plan.optimizer, memory, parameters);
  std::vector<double> losses;
  for (int step = 0; step < plan.steps; ++step) {
    for (const Parameter* p : parameters) {
      std::ranges::fill(p->grad.as<double>(), 0.0);
    }
    const Batch batch = last_tokens(plan.data, step);
    const auto tokens = static_cast<double>(batch.tokens());
    losses.push_back(model->forward_backward(batch) / tokens);
    for (const Parameter* p : parameters) {
      for (double& g : p->grad.as<double>()) {
        g /= tokens;
      }
      const std::size_t real = real_extent(*p) * p->value.count() / p->value.shape().front();
      if (p->name == "embed.weight" || p->name == "head.weight") {
        for (std::size_t i = real; i < p->value.count(); ++i) {
          EXPECT_EQ(p->grad.as<double>()[i], 0) << p->name << " step " << step;
          EXPECT_EQ(p->value.as<double>()[i], 0) << p->name << " step " << step;
        }
      }
    }
    if (tp != nullptr) {
      tp->sum_partial_gradients(parameters);
    }
    optimizer->step();
  }
  return losses;
}

TEST(CaseH1, TheCurveOfAVocabularyThatIsNotDivisibleIsThatOfOneProcess) {
  const auto plan = plan_of_50257();
  DeviceMemory memory(std::size_t{64} << 20);
  ComputeClock clock;
  const auto truth = losses_of_50257(plan, memory, clock, nullptr);
  const JobOptions job{.region_bytes = std::size_t{64} << 20};
  const auto seen = run_ranks_tested(2, job, [&](Rank& rank) {
    TensorParallel tp(rank.world(), rank.memory(), std::get<GptConfig>(plan.model));
    EXPECT_EQ(share_of(std::get<GptConfig>(plan.model), tp.cut()).real,
              rank.id() == 0 ? 25129U : 25128U);
    return losses_of_50257(plan, rank.memory(), rank.clock(), &tp);
  });
  EXPECT_LT(truth.back(), 0.8 * truth.front()) << "nothing is learnt";
  for (const auto& losses : seen) {
    for (std::size_t s = 0; s < truth.size(); ++s) {
      ASSERT_LT(relative(truth[s], losses[s]), 1e-5) << "step " << s;
    }
  }
}

// ---- H2, H3 -------------------------------------------------------------------------------------

TEST(CaseH2, KvHeadsAreCopiedWhenThereAreFewerThanRanks) {
  GptConfig config = small_gpt();  // 8 heads, 2 KV heads, head size 4
  GptConfig large = config;
  large.kv_heads = 4;
  large.head_dim = 128;
  for (const auto& [c, tp] : {std::pair{config, 4}, std::pair{large, 8}}) {
    const auto plan = gpt_plan(c);
    const TensorTraining on{.mesh = {.tp = tp}};
    const auto seen = train_on(on, plan, train_alone(plan));
    EXPECT_LT(seen.gradients, 1e-12) << tp;  // of copies, too: summed once
    EXPECT_LT(seen.loss, 1e-12) << tp;
    gathered(c, tp, parameters_of(on, plan));  // copies are bit-equal
  }
}

std::string refusal(const GptConfig& config, int ranks) {
  try {
    require_usable(config, ranks);
  } catch (const BadUse& error) {
    return error.what();
  }
  return "";
}

TEST(CaseH2, ARefusalNamesKvHeadsAndRanks) {
  GptConfig config = small_gpt();
  config.heads = 6;
  config.kv_heads = 3;
  EXPECT_EQ(refusal(config, 2),
            "kv_heads = 3 can neither be divided over 2 tensor-parallel ranks nor copied evenly: "
            "the ranks may be 1, 3, 6, or kv_heads 2 or 4");
}

TEST(CaseH3, HeadsThatTheRanksDoNotDivideAreRefusedWithTheNumbers) {
  GptConfig config = small_gpt();
  config.heads = 10;
  EXPECT_EQ(refusal(config, 4),
            "heads = 10 cannot be divided over 4 tensor-parallel ranks: the ranks may be 1, 2, or "
            "heads 8 or 12");
  config.heads = 12;
  config.kv_heads = 5;
  EXPECT_NE(refusal(config, 4).find("heads = 12 cannot be shared by kv_heads = 5"),
            std::string::npos);
  config = small_gpt();
  config.hidden = 30;
  config.heads = 4;
  config.head_dim = 0;
  EXPECT_NE(refusal(config, 2).find("hidden = 30 cannot be divided over heads = 4"),
            std::string::npos);
  // The run refuses the same, before anything is sent.
  config = small_gpt();
  config.heads = 10;
  const auto result = run_job_tested(4, small_job(), [&](Rank& rank) {
    EXPECT_THROW(TensorParallel(rank.world(), rank.memory(), config), BadUse);
    return std::string();
  });
  EXPECT_TRUE(result.ok());
}

// ---- H4 -----------------------------------------------------------------------------------------

// Gradients and values of all gains, after every step. (No bias and no positional table is there to
// be compared: the GPT has none.)
std::vector<std::vector<double>> gains(const TrainingPlan& plan, Fault fault) {
  const TensorTraining on{.mesh = {.tp = 4}, .options = {.sequence = true, .fault = fault}};
  return run_ranks_tested(4, job_of(on, plan), [&](Rank& rank) {
    std::vector<double> all;
    train_tensor_rank(rank, on, plan,
                      [&](int, const StepRecord& record, const std::vector<Parameter*>& parts) {
                        for (std::size_t p = 0; p < parts.size(); ++p) {
                          if (parts[p]->layout.dimension < 0) {
                            const auto& g = record.gradients[p];
                            const auto& v = record.parameters[p];
                            all.insert(all.end(), g.begin(), g.end());
                            all.insert(all.end(), v.begin(), v.end());
                          }
                        }
                      });
    return all;
  });
}

TEST(CaseH4, GainsAreBitEqualOnAllRanksAndThoseOfOneProcess) {
  TrainingPlan plan = gpt_plan(small_gpt(DType::f32));
  plan.steps = 10;
  plan.data.sequence = 8;
  const auto of_rank = gains(plan, Fault::none);
  for (const auto& other : of_rank) {
    EXPECT_EQ(other, of_rank.front());
  }
  std::vector<double> truth;
  const auto records = train_alone(plan);
  for (const auto& record : records) {
    for (std::size_t p = 0; p < record.gradients.size(); ++p) {
      if (record.gradients[p].size() == 16) {  // [hidden]: no other tensor is so small
        truth.insert(truth.end(), record.gradients[p].begin(), record.gradients[p].end());
        truth.insert(truth.end(), record.parameters[p].begin(), record.parameters[p].end());
      }
    }
  }
  ASSERT_EQ(truth.size(), 10U * 5 * 2 * 16);  // steps, gains, gradient and value
  EXPECT_LT(deviation({truth}, {of_rank.front()}, DType::f32).absolute, 1e-6);
}

TEST(CaseH4Control, GainsThatAreNotSummedDrift) {
  TrainingPlan plan = gpt_plan(small_gpt(DType::f32));
  const auto of_rank = gains(plan, Fault::replicated_gradient_not_summed);
  EXPECT_NE(of_rank[1], of_rank[0]);
}

}  // namespace
}  // namespace ringside
