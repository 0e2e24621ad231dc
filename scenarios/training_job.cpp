#include "scenarios/training_job.hpp"

#include <cstring>

#include "models/random.hpp"
#include "parallel/data_parallel.hpp"
#include "parallel/data_parallel_step.hpp"
#include "scenarios/model_settings.hpp"

namespace ringside {

namespace {

std::uint64_t hash(const TensorValues& tensors) {
  std::uint64_t h = 0;
  for (const auto& tensor : tensors) {
    for (const double x : tensor) {
      h = mix(h ^ std::bit_cast<std::uint64_t>(x));
    }
  }
  return h;
}

DataParallelOptions dp_options(const TrainingRequest& request) {
  const Settings& s = request.settings;
  return {.bucket = s.dp.bucket,
          .overlap = s.dp.overlap,
          .sync_every_microbatch = s.dp.sync_every_microbatch,
          .all_reduce = s.collectives.all_reduce,
          .planted = request.all_reduce,
          .broadcast = s.collectives.broadcast,
          .fault = request.fault};
}

// Rank r's own seed: only the broadcast makes the weights equal, so that its absence shows.
std::uint64_t own_seed(const TrainingPlan& plan, int rank) {
  return rank == 0 ? plan.data.seed : mix(plan.data.seed + static_cast<std::uint64_t>(rank));
}

// How many tensors each layer has.
std::vector<std::size_t> tensors_of(Model& model) {
  std::vector<std::size_t> counts;
  for (const auto& layer : model.layers()) {
    counts.push_back(layer.size());
  }
  return counts;
}

std::vector<StepOutcome> train_rank(Rank& rank, const TrainingRequest& request,
                                    const TrainingPlan& plan, const Reference& reference) {
  const auto model =
      make_model({rank.memory(), rank.clock()}, plan.model, own_seed(plan, rank.id()));
  const auto parameters = flatten(model->layers());
  std::vector<int> members(static_cast<std::size_t>(rank.size()));
  for (int r = 0; r < rank.size(); ++r) {
    members[static_cast<std::size_t>(r)] = r;
  }
  Comm group(rank, "dp", members);
  DataParallel dp(group, rank.memory(), model->layers(), dp_options(request));
  const auto optimizer = make_optimizer(plan.optimizer, rank.memory(), parameters);
  dp.broadcast_weights();
  DataParallelStep step(group, dp, *model, plan, request.settings.parallel.microbatches);
  std::vector<StepOutcome> outcomes;
  train(plan, parameters, *optimizer, std::ref(step), [&](int s, const StepRecord& record) {
    const StepRecord& truth = reference[static_cast<std::size_t>(s)];
    outcomes.push_back(
        {.loss = record.loss,
         .gradient_norm = record.gradient_norm,
         .reference_loss = truth.loss,
         .reference_norm = truth.gradient_norm,
         .gradients = deviation(truth.gradients, record.gradients, dtype_of(plan.model)),
         .parameters = deviation(truth.parameters, record.parameters, dtype_of(plan.model)),
         .first =
             first_difference(truth.gradients, record.gradients, dp.buckets(), tensors_of(*model)),
         .gradient_hash = hash(record.gradients),
         .parameter_hash = hash(record.parameters),
         .start = step.times().start,
         .backward_end = step.times().backward_end,
         .gradients_ready = step.times().gradients_ready,
         .end = rank.now()});
    if (rank.id() == 0) {
      rank.note("step " + std::to_string(s + 1) + " of " + std::to_string(plan.steps));
    }
  });
  return outcomes;
}

std::string bytes_of(const std::vector<StepOutcome>& outcomes) {
  static_assert(std::is_trivially_copyable_v<StepOutcome>);
  return {reinterpret_cast<const char*>(outcomes.data()), outcomes.size() * sizeof(StepOutcome)};
}

std::vector<StepOutcome> outcomes_of(const std::string& bytes) {
  std::vector<StepOutcome> outcomes(bytes.size() / sizeof(StepOutcome));
  std::memcpy(static_cast<void*>(outcomes.data()), bytes.data(), bytes.size());
  return outcomes;
}

}  // namespace

TrainingPlan plan_of(const Settings& s, std::string_view text, double loss_divisor) {
  const auto size = [](int value) { return static_cast<std::size_t>(value); };
  return {.model = model_of(s),
          .optimizer = {.kind = s.train.optimizer,
                        .lr = s.train.lr,
                        .momentum = s.train.momentum,
                        .beta1 = s.train.beta1,
                        .beta2 = s.train.beta2,
                        .eps = s.train.eps,
                        .weight_decay = s.train.weight_decay},
          .data = {.text = text,
                   .seed = static_cast<std::uint64_t>(s.train.seed),
                   .sequence = size(s.model.sequence),
                   .context = context_of(s)},
          .steps = s.train.steps,
          .batch = static_cast<std::uint64_t>(s.train.batch),
          .loss_divisor = loss_divisor};
}

std::vector<Bucket> buckets_of(const Settings& s) {
  const ModelConfig model = model_of(s);
  return cut_buckets(tensor_counts(model), s.dp.bucket, size_of(dtype_of(model)), s.ranks);
}

ShardsPlan shards_of(const Settings& s) {
  return {.shards = s.ranks, .microbatches = s.parallel.microbatches, .bucket = s.dp.bucket};
}

ShardsPlan shards_as_run(const Settings& s, const AllReduce* planted) {
  ShardsPlan plan = shards_of(s);
  plan.order = [=, name = s.collectives.all_reduce](std::size_t elements) {
    const int gpus_per_node = cluster_of(s).nodes(s.ranks) > 1 ? s.cluster.gpus_per_node : 0;
    return order_of_run(all_reduce_call(name, planted), s.ranks, gpus_per_node, elements).order;
  };
  return plan;
}

TrainingOutcome run_training(const TrainingRequest& request, std::string_view text,
                             const Reference& reference) {
  const TrainingPlan plan = plan_of(request.settings, text, request.loss_divisor);
  const int ranks = request.settings.ranks;
  JobOptions options = request.options;
  options.cluster = cluster_of(request.settings);
  const auto share = plan.batch / static_cast<std::uint64_t>(ranks) + 1;
  options.region_bytes = memory_estimate(plan, share);
  TrainingOutcome outcome{.job = run_job(ranks, options, [&](Rank& rank) {
                            return bytes_of(train_rank(rank, request, plan, reference));
                          })};
  if (!outcome.job.ok()) {
    outcome.job.raise();
  }
  for (const auto& rank : outcome.job.ranks) {
    outcome.ranks.push_back(outcomes_of(rank.value));
  }
  return outcome;
}

}  // namespace ringside
