// A training small enough for a test, alone and over ranks.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "models/tensor_elements.hpp"
#include "models/text.hpp"
#include "parallel/data_parallel.hpp"
#include "parallel/data_parallel_step.hpp"
#include "parallel/deviation.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {

inline TrainingPlan small_plan(std::uint64_t batch, DType dtype = DType::f32) {
  return {
      .model = MlpConfig{.context = 4, .embedding = 4, .hidden = 12, .layers = 2, .dtype = dtype},
      .optimizer = {.kind = "sgd", .lr = 0.1, .momentum = 0.9},
      .data = {.text = builtin_text(), .seed = 3, .sequence = 8, .context = 4},
      .steps = 3,
      .batch = batch};
}

inline TrainingPlan small_gpt_plan(std::uint64_t batch, bool tied, DType dtype = DType::f32) {
  TrainingPlan plan = small_plan(batch, dtype);
  plan.model = GptConfig{.layers = 2,
                         .hidden = 12,
                         .heads = 2,
                         .kv_heads = 1,
                         .ffn = 10,
                         .tied = tied,
                         .dtype = dtype};
  plan.data.context = 1;
  return plan;
}

// One process on the batches that `batch_of` gives, each at once.
inline std::vector<StepRecord> train_alone_on(const TrainingPlan& plan,
                                              const std::function<Batch(int step)>& batch_of) {
  return train_in_one_process(plan, [&](Model& model) {
    return [&](int step) {
      for (const Parameter* p : flatten(model.layers())) {
        with_elements(p->grad, [](auto g) { std::fill(g.begin(), g.end(), 0); });
      }
      const Batch batch = batch_of(step);
      return StepSum{model.forward_backward(batch), batch.tokens()};
    };
  });
}

// The micro-batches of a rank.
using MicrobatchesOf = std::function<Microbatches(Rank& rank)>;

// Trains on the calling rank, and gives every record to `on_step`.
inline void train_rank(Rank& rank, const TrainingPlan& plan, const DataParallelOptions& options,
                       int microbatches, const MicrobatchesOf& batches_of,
                       const std::function<void(int step, const StepRecord&)>& on_step) {
  const auto model = make_model({rank.memory(), rank.clock()}, plan.model,
                                plan.data.seed + static_cast<std::uint64_t>(rank.id()));
  const auto parameters = flatten(model->layers());
  DataParallel dp(rank.world(), rank.memory(), model->layers(), options);
  const auto optimizer = make_optimizer(plan.optimizer, rank.memory(), parameters);
  dp.broadcast_weights();
  DataParallelStep step =
      batches_of ? DataParallelStep(rank.world(), dp, *model, batches_of(rank), microbatches)
                 : DataParallelStep(rank.world(), dp, *model, plan, microbatches);
  train(plan, parameters, *optimizer, std::ref(step), on_step);
}

struct Seen {
  Deviation gradients;
  double norm = 0;
  double loss = 0;
};

struct TrainedOn {
  int ranks = 2;
  DataParallelOptions options{};
  int microbatches = 1;
  Ranks as = Ranks::processes;
  MicrobatchesOf batches_of{};  // none: the plan's batch in equal parts
};

// The last step of a job, as rank 0 saw it beside the reference.
inline Seen train_on(const TrainedOn& on, const TrainingPlan& plan,
                     const std::vector<StepRecord>& truth) {
  const JobOptions job{.as = on.as, .region_bytes = memory_estimate(plan, plan.batch)};
  const auto seen = run_ranks_tested(on.ranks, job, [&](Rank& rank) {
    Seen last;
    train_rank(rank, plan, on.options, on.microbatches, on.batches_of,
               [&](int s, const StepRecord& record) {
                 const auto& reference = truth[static_cast<std::size_t>(s)].gradients;
                 last = {deviation(reference, record.gradients, dtype_of(plan.model)),
                         record.gradient_norm, record.loss};
               });
    return last;
  });
  return seen.front();
}

}  // namespace ringside
