// A scenario's settings as options of what trains in parallel.
#pragma once

#include <optional>
#include <vector>

#include "models/loss_scale.hpp"
#include "models/optimizer.hpp"
#include "parallel/batch_share.hpp"
#include "parallel/mesh_plan.hpp"
#include "parallel/mesh_training.hpp"
#include "scenarios/settings.hpp"

namespace ringside {

// Ranks over which gradients are summed: those that hold the same part of the model.
inline int gradient_ranks(const Settings& s) {
  return s.ranks / (s.parallel.tp * s.parallel.pp);
}

// Replicas over which the batch is cut: context-parallel ranks share its samples.
inline int data_parallel_ranks(const Settings& s) {
  return gradient_ranks(s) / s.parallel.cp;
}

// The rank's among the replicas.
BatchShare batch_share_of(const Settings& settings, int rank);

// How the settings cut gradients into buckets: dp.bucket_by, and where it leaves that open, by
// size; ZeRO-3 by layer. Of a pipeline without its borders.
BucketRules bucket_rules(const Settings& s);

inline MeshShape mesh_shape(const Settings& s) {
  return {.tp = s.parallel.tp,
          .cp = s.parallel.cp,
          .pp = s.parallel.pp,
          .dp = data_parallel_ranks(s),
          .order = parse_order(s.parallel.order)};
}

// Of gradients, losses and counted tokens.
std::vector<Axis> gradient_axes();

Mesh mesh_of(const Settings& settings, int rank);

// As the planner sees it (parallel/mesh_plan.hpp); the schedule by its name.
MeshPlan mesh_plan_of(const Settings& settings);

MeshTrainingOptions mesh_options(const Settings& settings, Fault fault = Fault::none,
                                 const AllReduce* planted = nullptr);
ContextParallelOptions context_options(const Settings& settings, Fault fault = Fault::none);

DataParallelOptions dp_options(const Settings& settings, Fault fault = Fault::none,
                               const AllReduce* planted = nullptr);
ZeroOptions zero_options(const Settings& settings, Fault fault = Fault::none);
TensorParallelOptions tensor_options(const Settings& settings, Fault fault = Fault::none);
OptimizerConfig optimizer_of(const Settings& settings);
std::optional<LossScaling> loss_scaling_of(const Settings& settings);

// All ranks, in order.
std::vector<int> everyone(const Rank& rank);

}  // namespace ringside
