#include "scenarios/parallel_options.hpp"

#include <numeric>

#include "scenarios/expert_settings.hpp"
#include "scenarios/model_settings.hpp"
#include "scenarios/pipeline_settings.hpp"

namespace ringside {

BucketRules bucket_rules(const Settings& s) {
  const bool by_layer = s.parallel.zero == 3 || s.dp.bucket_by == "layer";
  return {.limit = s.dp.bucket,
          .by = by_layer ? BucketBy::layer : BucketBy::size,
          .alignment = static_cast<std::size_t>(s.dp.alignment)};
}

DataParallelOptions dp_options(const Settings& settings, Fault fault, const AllReduce* planted) {
  return {.buckets = bucket_rules(settings),
          .overlap = settings.dp.overlap,
          .sync_every_microbatch = settings.dp.sync_every_microbatch,
          .all_reduce = settings.collectives.all_reduce,
          .planted = planted,
          .broadcast = settings.collectives.broadcast,
          .fault = fault};
}

ZeroOptions zero_options(const Settings& settings, Fault fault) {
  return {.stage = settings.parallel.zero,
          .buckets = bucket_rules(settings),
          .overlap = settings.dp.overlap,
          .prefetch = settings.parallel.prefetch,
          .reduce_scatter = settings.collectives.reduce_scatter,
          .all_gather = settings.collectives.all_gather,
          .all_reduce = settings.collectives.all_reduce,
          .broadcast = settings.collectives.broadcast,
          .fault = fault};
}

TensorParallelOptions tensor_options(const Settings& settings, Fault fault) {
  return {.sequence = settings.parallel.sp,
          .all_reduce = settings.collectives.all_reduce,
          .reduce_scatter = settings.collectives.reduce_scatter,
          .all_gather = settings.collectives.all_gather,
          .fault = fault};
}

MeshPlan mesh_plan_of(const Settings& s) {
  return {.mesh = mesh_shape(s),
          .ep = s.parallel.ep,
          .sequence_parallel = s.parallel.sp,
          .cp_form = s.parallel.cp_form,
          .zero = s.parallel.zero,
          .schedule = s.parallel.schedule,
          .chunks = s.parallel.chunks,
          .microbatches = s.parallel.microbatches,
          .batch = static_cast<std::size_t>(s.train.batch)};
}

MeshTrainingOptions mesh_options(const Settings& settings, Fault fault, const AllReduce* planted) {
  MeshTrainingOptions options{.shape = mesh_shape(settings),
                              .microbatches = settings.parallel.microbatches,
                              .sync_batch_norm = settings.dp.sync_batch_norm,
                              .replicated = {.zero = settings.parallel.zero,
                                             .data = dp_options(settings, fault, planted),
                                             .sharded = zero_options(settings, fault)},
                              .tensor = tensor_options(settings, fault),
                              .context = context_options(settings, fault)};
  if (settings.parallel.pp > 1) {
    options.pipeline = pipeline_plan(settings);
    options.pipeline->fault = fault;
  }
  if (has_experts(settings)) {
    options.experts = expert_plan(settings, fault);
  }
  return options;
}

std::vector<Axis> gradient_axes() {
  return {Axis::cp, Axis::dp};
}

Mesh mesh_of(const Settings& s, int rank) {
  return {mesh_shape(s), rank};
}

BatchShare batch_share_of(const Settings& s, int rank) {
  return {mesh_of(s, rank).at(Axis::dp), data_parallel_ranks(s), s.parallel.microbatches};
}

ContextParallelOptions context_options(const Settings& s, Fault fault) {
  return {.form = parse_context_form(s.parallel.cp_form),
          .layout = parse_context_layout(s.parallel.cp_layout),
          .all_to_all = s.collectives.all_to_all,
          .fault = fault};
}

OptimizerConfig optimizer_of(const Settings& s) {
  const double times =
      s.train.lr_batch == 0 ? 1 : static_cast<double>(s.train.batch) / s.train.lr_batch;
  return {.kind = s.train.optimizer,
          .lr = times * s.train.lr,
          .momentum = s.train.momentum,
          .beta1 = s.train.beta1,
          .beta2 = s.train.beta2,
          .eps = s.train.eps,
          .weight_decay = s.train.weight_decay,
          .masters = s.train.masters};
}

std::optional<LossScaling> loss_scaling_of(const Settings& s) {
  const std::string& scale = s.train.loss_scale;
  if (scale == "none") {
    return std::nullopt;
  }
  if (scale == "dynamic") {
    return LossScaling{};
  }
  return LossScaling{.initial = std::stod(scale), .dynamic = false};
}

std::vector<int> everyone(const Rank& rank) {
  std::vector<int> members(static_cast<std::size_t>(rank.size()));
  std::iota(members.begin(), members.end(), 0);
  return members;
}

}  // namespace ringside
