// A training that is stored, and one that goes on from what was stored, over any ranks.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "parallel/batch_share.hpp"
#include "parallel/gather_checkpoint.hpp"
#include "parallel/zero.hpp"
#include "tests/parallel/small_training.hpp"

namespace ringside {

// Tensors whose elements 4 ranks cannot divide: a bias of 10, and every tensor a bucket of its own.
inline TrainingPlan uneven_plan(const std::string& optimizer, int steps, std::uint64_t batch = 4) {
  TrainingPlan plan = small_plan(batch);
  plan.model = MlpConfig{.context = 4, .embedding = 3, .hidden = 10, .layers = 1};
  plan.optimizer = {.kind = optimizer, .lr = optimizer == "sgd" ? 0.1 : 1e-2};
  plan.steps = steps;
  return plan;
}

// A GPT of 10 tokens: a table of 50 elements, which 4 ranks cut into 13, 13, 13 and 11.
inline TrainingPlan ten_tokens_plan(const std::string& optimizer, int steps) {
  TrainingPlan plan = uneven_plan(optimizer, steps);
  plan.model = GptConfig{
      .layers = 1, .hidden = 5, .heads = 2, .kv_heads = 1, .head_dim = 2, .ffn = 7, .vocab = 10};
  plan.data.context = 1;
  return plan;
}

// Bytes as tokens of the plan's vocabulary: the last digit, where it has 10.
inline Batch in_vocabulary(const TrainingPlan& plan, Batch batch) {
  const auto* gpt = std::get_if<GptConfig>(&plan.model);
  if (gpt != nullptr && gpt->vocab < 256) {
    for (auto* tokens : {&batch.contexts, &batch.targets}) {
      for (std::int32_t& token : *tokens) {
        token %= static_cast<std::int32_t>(gpt->vocab);
      }
    }
  }
  return batch;
}

struct Leg {
  int ranks = 1;
  int stage = 0;  // of ZeRO; 0: data parallelism
  int microbatches = 1;
};

namespace leg {

inline std::vector<double> train(Rank& rank, const Leg& on, const TrainingPlan& plan,
                                 const std::filesystem::path& folder) {
  const auto model = make_model({rank.memory(), rank.clock()}, plan.model,
                                plan.data.seed + static_cast<std::uint64_t>(rank.id()));
  if (plan.start && rank.id() == 0) {
    load_weights(*plan.start, flatten(model->layers()));
  }
  std::unique_ptr<DataParallel> dp;
  std::unique_ptr<Zero> zero;
  if (on.stage == 0) {
    dp = std::make_unique<DataParallel>(rank.world(), rank.memory(), model->layers(),
                                        DataParallelOptions{.buckets = {.limit = Bytes{1}}});
    dp->broadcast_weights();
  } else {
    zero = std::make_unique<Zero>(rank.world(), rank.memory(), *model,
                                  ZeroOptions{.stage = on.stage, .buckets = {.limit = Bytes{1}}});
  }
  const auto parameters = zero ? zero->parameters() : flatten(model->layers());
  const auto optimizer = make_optimizer(plan.optimizer, rank.memory(), parameters);
  if (plan.start) {
    load_optimizer(*plan.start, *optimizer);
  }
  GradientReduction& reduction = zero ? static_cast<GradientReduction&>(*zero) : *dp;
  DataParallelStep step(
      rank.world(), reduction, *model,
      [&](int s, int index) {
        const BatchShare share{rank.id(), rank.size(), on.microbatches};
        return in_vocabulary(plan, microbatch_of(plan, share, s, index));
      },
      on.microbatches);
  std::vector<double> losses;
  ringside::train(plan, parameters, *optimizer, std::ref(step),
                  [&](int s, const StepRecord& record) {
                    if (zero) {
                      zero->end_update();
                    }
                    losses.push_back(record.loss);
                    if (s + 1 == plan.steps) {
                      const auto checkpoint = gather_checkpoint(
                          rank.world(), plan, s + 1, record.next_scale, parameters, *optimizer);
                      if (rank.id() == 0) {
                        save_checkpoint(folder, checkpoint);
                      }
                    }
                  },
                  {.norm = zero ? std::function([&] { return zero->gradient_norm(); })
                                : std::function<double()>{},
                   .scale_loss = [&](double scale) { model->scale_loss(scale); }});
  return losses;
}

}  // namespace leg

struct Trained {
  std::vector<double> losses{};
  std::shared_ptr<const Checkpoint> end{};
};

// plan.steps steps over these ranks, from plan.start on, and the checkpoint after them, which has
// been through a file in `folder`.
inline Trained train_leg(const Leg& on, const TrainingPlan& plan,
                         const std::filesystem::path& folder) {
  const JobOptions job{.region_bytes = memory_estimate(plan, plan.batch)};
  const auto losses = run_ranks_tested(
      on.ranks, job, [&](Rank& rank) { return leg::train(rank, on, plan, folder); });
  return {losses.front(), std::make_shared<Checkpoint>(load_checkpoint(folder))};
}

inline TrainingPlan from(TrainingPlan plan, std::shared_ptr<const Checkpoint> start) {
  plan.start = std::move(start);
  return plan;
}

}  // namespace ringside
