// A GPT small enough for a test, trained alone and over a mesh of tp x cp x dp ranks.
#pragma once

#include <functional>
#include <string>

#include "collectives/chunk.hpp"
#include "parallel/context/context_parallel.hpp"
#include "tests/parallel/tensor_training.hpp"

namespace ringside {

struct ContextTraining {
  MeshShape mesh{.cp = 2};
  ContextParallelOptions options{};
  bool sequence = false;  // sequence parallelism, with tp
  int microbatches = 1;
  Ranks as = Ranks::processes;
  // What becomes of a whole micro-batch before it is cut; none: nothing.
  std::function<void(Batch&)> edit{};
};

// The whole micro-batches of a data-parallel rank, cut for this one.
inline Microbatches parts_of_batches(const ContextTraining& on, const TrainingPlan& plan,
                                     const Mesh& mesh, const ContextParallel& cp) {
  return [&on, &plan, &cp, replica = mesh.at(Axis::dp)](int step, int index) {
    const Chunk mine = chunk_of(plan.batch, on.mesh.dp, replica);
    const Chunk part = chunk_of(mine.count, on.microbatches, index);
    Batch whole = make_batch(plan.data, static_cast<std::uint64_t>(step), mine.first + part.first,
                             part.count);
    if (on.edit) {
      on.edit(whole);
    }
    return cp.part_of(whole);
  };
}

inline void train_context_rank(Rank& rank, const ContextTraining& on, const TrainingPlan& plan,
                               const OnTensorStep& on_step) {
  const Mesh mesh(on.mesh, rank.id());
  Comm tp_group(rank, "tp", mesh.members({Axis::tp}));
  Comm cp_group(rank, "cp", mesh.members({Axis::cp}));
  Comm gradient_group(rank, "dp", mesh.members({Axis::cp, Axis::dp}));
  const auto& config = std::get<GptConfig>(plan.model);
  const Device device{rank.memory(), rank.clock()};
  TensorParallel tp(tp_group, rank.memory(), config, {.sequence = on.sequence});
  const ContextParallel cp(cp_group, device, config, on.options, on.mesh.tp);
  const auto model = make_gpt(device, config, plan.data.seed,
                              {.cut = tp.cut(), .seam = tp.seam(), .attention = cp.attention()});
  const auto layers = model->layers();
  const auto parameters = flatten(layers);
  DataParallelOptions options{.buckets = {.limit = Bytes{4096}}, .fault = on.options.fault};
  options.complete = [&](std::size_t layer) { tp.sum_partial_gradients(layers[layer]); };
  DataParallel dp(gradient_group, rank.memory(), layers, options);
  const auto optimizer = make_optimizer(plan.optimizer, rank.memory(), parameters);
  dp.broadcast_weights();
  DataParallelStep step(gradient_group, dp, *model, parts_of_batches(on, plan, mesh, cp),
                        on.microbatches);
  train(plan, parameters, *optimizer, std::ref(step),
        [&](int s, const StepRecord& record) { on_step(s, record, parameters); },
        {.norm = [&] { return norm_of(tp.sum_of_squares(parameters), parameters); }});
}

inline std::vector<StepRecord> train_alone_on(const ContextTraining& on, const TrainingPlan& plan) {
  return train_in_one_process(plan, [&](Model& model) {
    return [&](int step) {
      zero_gradients(flatten(model.layers()));
      Batch batch = make_batch(plan.data, static_cast<std::uint64_t>(step), 0, plan.batch);
      if (on.edit) {
        on.edit(batch);
      }
      const double loss = model.forward_backward(batch);
      return StepSum{loss, batch.tokens()};
    };
  });
}

inline TensorSeen train_on(const ContextTraining& on, const TrainingPlan& plan,
                           const std::vector<StepRecord>& truth) {
  const JobOptions job{.as = on.as, .region_bytes = memory_estimate(plan, plan.batch)};
  return worst_of(run_ranks_tested(on.mesh.ranks(), job, [&](Rank& rank) {
    TensorSeen seen;
    train_context_rank(
        rank, on, plan, [&](int s, const StepRecord& record, const std::vector<Parameter*>& parts) {
          seen =
              worst_of({seen, seen_in(plan, truth[static_cast<std::size_t>(s)], record, parts, s)});
        });
    return seen;
  }));
}

}  // namespace ringside
