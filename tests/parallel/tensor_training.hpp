// A GPT small enough for a test, trained alone and over a mesh of tp x dp ranks.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "models/gradient_norm.hpp"
#include "models/layout_parts.hpp"
#include "models/text.hpp"
#include "parallel/data_parallel.hpp"
#include "parallel/data_parallel_step.hpp"
#include "parallel/deviation.hpp"
#include "parallel/mesh.hpp"
#include "parallel/tensor_parallel.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {

// Heads and ffn for 2, 4 and 8 ranks; two KV heads, so that 4 and 8 hold copies; a vocabulary that
// no number of ranks divides.
inline GptConfig small_gpt(DType dtype = DType::f64, bool tied = false) {
  return {.layers = 2,
          .hidden = 16,
          .heads = 8,
          .kv_heads = 2,
          .head_dim = 4,
          .ffn = 24,
          .vocab = 257,
          .tied = tied,
          .dtype = dtype};
}

inline GptConfig gpt_for_three(DType dtype = DType::f64) {
  GptConfig config = small_gpt(dtype);
  config.heads = 6;
  config.kv_heads = 3;
  return config;
}

// 45 tokens a step, which neither 2, 4 nor 8 ranks divide.
inline TrainingPlan gpt_plan(const GptConfig& config, const std::string& optimizer = "sgd") {
  return {.model = config,
          .optimizer = {.kind = optimizer, .lr = optimizer == "sgd" ? 0.1 : 1e-3},
          .data = {.text = builtin_text(), .seed = 3, .sequence = 9, .context = 1},
          .steps = 3,
          .batch = 3};
}

struct TensorTraining {
  MeshShape mesh{.tp = 2};
  TensorParallelOptions options{};
  int microbatches = 1;
  Bytes bucket{4096};
  BucketBy by = BucketBy::size;
  Ranks as = Ranks::processes;
};

// The parts of a rank, beside the record of a step.
using OnTensorStep =
    std::function<void(int step, const StepRecord&, const std::vector<Parameter*>&)>;

inline void train_tensor_rank(Rank& rank, const TensorTraining& on, const TrainingPlan& plan,
                              const OnTensorStep& on_step) {
  const Mesh mesh(on.mesh, rank.id());
  Comm tp_group(rank, "tp", mesh.members({Axis::tp}));
  Comm dp_group(rank, "dp", mesh.members({Axis::dp}));
  const auto& config = std::get<GptConfig>(plan.model);
  TensorParallel tp(tp_group, rank.memory(), config, on.options);
  const auto model = make_gpt({rank.memory(), rank.clock()}, config,
                              plan.data.seed + static_cast<std::uint64_t>(mesh.at(Axis::dp)),
                              {.cut = tp.cut(), .seam = tp.seam()});
  const auto layers = model->layers();
  const auto parameters = flatten(layers);
  DataParallelOptions options{.buckets = {.limit = on.bucket, .by = on.by}};
  options.complete = [&](std::size_t layer) { tp.sum_partial_gradients(layers[layer]); };
  DataParallel dp(dp_group, rank.memory(), layers, options);
  const auto optimizer = make_optimizer(plan.optimizer, rank.memory(), parameters);
  dp.broadcast_weights();
  DataParallelStep step(dp_group, dp, *model, plan, on.microbatches);
  train(plan, parameters, *optimizer, std::ref(step),
        [&](int s, const StepRecord& record) { on_step(s, record, parameters); },
        {.norm = [&] { return norm_of(tp.sum_of_squares(parameters), parameters); },
         .scale_loss = [&](double scale) { model->scale_loss(scale); }});
}

inline JobOptions job_of(const TensorTraining& on, const TrainingPlan& plan) {
  return {.as = on.as, .region_bytes = memory_estimate(plan, plan.batch)};
}

// How far all ranks were from the reference: the worst of all.
struct TensorSeen {
  double gradients = 0;   // every step
  double of_largest = 0;  // over the model's largest gradient element
  double parameters = 0;  // after every step
  double loss = 0;        // relative
  double norm = 0;        // relative
  double first_gradients = 0;
};

inline TensorSeen worst_of(const std::vector<TensorSeen>& all) {
  TensorSeen most;
  for (const auto& seen : all) {
    most.gradients = std::max(most.gradients, seen.gradients);
    most.of_largest = std::max(most.of_largest, seen.of_largest);
    most.parameters = std::max(most.parameters, seen.parameters);
    most.loss = std::max(most.loss, seen.loss);
    most.norm = std::max(most.norm, seen.norm);
    most.first_gradients = std::max(most.first_gradients, seen.first_gradients);
  }
  return most;
}

// A rank's record of a step beside the reference's.
inline TensorSeen seen_in(const TrainingPlan& plan, const StepRecord& reference,
                          const StepRecord& record, const std::vector<Parameter*>& parts,
                          int step) {
  const DType dtype = dtype_of(plan.model);
  const auto g = deviation(parts_of(parts, reference.gradients), record.gradients, dtype);
  const auto p = deviation(parts_of(parts, reference.parameters), record.parameters, dtype);
  return {.gradients = g.absolute,
          .of_largest = g.of_largest,
          .parameters = p.absolute,
          .loss = relative(reference.loss, record.loss),
          .norm = relative(reference.gradient_norm, record.gradient_norm),
          .first_gradients = step == 0 ? g.absolute : 0};
}

inline TensorSeen train_on(const TensorTraining& on, const TrainingPlan& plan,
                           const std::vector<StepRecord>& truth) {
  return worst_of(run_ranks_tested(on.mesh.ranks(), job_of(on, plan), [&](Rank& rank) {
    TensorSeen seen;
    train_tensor_rank(
        rank, on, plan, [&](int s, const StepRecord& record, const std::vector<Parameter*>& parts) {
          seen =
              worst_of({seen, seen_in(plan, truth[static_cast<std::size_t>(s)], record, parts, s)});
        });
    return seen;
  }));
}

}  // namespace ringside
