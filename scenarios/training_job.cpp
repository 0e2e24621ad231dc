#include "scenarios/training_job.hpp"

#include <algorithm>
#include <cstring>

#include "parallel/pipeline/bucket_borders.hpp"
#include "scenarios/model_settings.hpp"
#include "scenarios/parallel_options.hpp"
#include "scenarios/pipeline_settings.hpp"
#include "scenarios/rank_training.hpp"
#include "scenarios/true_scale.hpp"

namespace ringside {

namespace {

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
  TrainingPlan plan{.model = model_of(s),
                    .optimizer = optimizer_of(s),
                    .data = {.text = text,
                             .seed = static_cast<std::uint64_t>(s.train.seed),
                             .sequence = size(s.model.sequence),
                             .context = context_of(s)},
                    .steps = s.train.steps,
                    .batch = static_cast<std::uint64_t>(s.train.batch),
                    .loss_divisor = loss_divisor,
                    .clip = s.train.clip,
                    .loss_scaling = loss_scaling_of(s)};
  if (!s.train.resume.empty()) {
    s.files.start.of(s.train.resume);
    plan.start = s.files.start.content;
  }
  return plan;
}

Reference reference_of(const Settings& s, const TrainingPlan& plan) {
  if (!has_experts(s)) {
    return {.steps = train_alone(plan)};
  }
  GroupsInTurn truth = train_groups_in_turn(plan, s.parallel.dp, s.parallel.microbatches);
  return {.steps = std::move(truth.steps), .routed = std::move(truth.groups)};
}

namespace {

constexpr std::size_t dense_tensors = 7;  // of a block of experts: two norms, q, k, v, o, router

bool has_bias(const Settings& s) {
  return s.model.bias_rate > 0;
}

// Of the layers of a GPT: of the experts those that one rank has.
std::vector<std::vector<std::size_t>> counts_held(const Settings& s, Held held) {
  auto counts = part_counts_of(s);
  if (!has_experts(s)) {
    return counts;
  }
  const std::size_t before = dense_tensors + (has_bias(s) ? 1 : 0);
  const auto experts = 3 * static_cast<std::size_t>(s.model.experts / s.parallel.ep);
  for (auto& layer : counts) {
    const bool mixture = layer.size() > before;
    if (held == Held::dense) {
      layer.resize(mixture ? dense_tensors : layer.size());
    } else {
      layer = mixture ? std::vector(layer.begin() + static_cast<std::ptrdiff_t>(before),
                                    layer.begin() + static_cast<std::ptrdiff_t>(before + experts))
                      : std::vector<std::size_t>{};
    }
  }
  return counts;
}

// Of the stages of a pipeline's device. A tied head without the embedding has the table too.
std::vector<std::vector<std::size_t>> counts_of_stages(const Settings& s, int device, Held held) {
  const auto whole = counts_held(s, held);
  const PipelinePlan plan = pipeline_plan(s);
  const auto layers = layers_of(plan.split, StagePlacement(plan.schedule).stages_on(device));
  std::vector<std::vector<std::size_t>> counts;
  for (const std::size_t layer : layers) {
    counts.push_back(whole[layer]);
  }
  if (s.model.tied && layers.back() + 1 == whole.size() && layers.front() != 0) {
    counts.back() = whole.front();
  }
  return counts;
}

}  // namespace

std::vector<Bucket> buckets_of(const Settings& s, int rank, Held held) {
  BucketRules rules = bucket_rules(s);
  const int device = mesh_of(s, rank).at(Axis::pp);
  if (s.parallel.pp > 1) {
    const PipelinePlan plan = pipeline_plan(s);
    rules.borders = bucket_borders(plan.schedule, plan.split, device, s.model.tied);
  }
  return cut_buckets(s.parallel.pp > 1 ? counts_of_stages(s, device, held) : counts_held(s, held),
                     rules, size_of(element_type(s)), holders_of(s, held, rank).size);
}

std::size_t frozen_elements(const Settings& s, int rank) {
  return has_bias(s)
             ? static_cast<std::size_t>(s.model.experts * layers_here(s, rank, std::nullopt).blocks)
             : 0;
}

int passes_of(const Settings& s) {
  return s.parallel.ep_overlap ? (s.parallel.microbatches + 1) / 2 : s.parallel.microbatches;
}

int reductions_of(const Settings& s) {
  return s.parallel.zero > 1 || s.dp.sync_every_microbatch ? passes_of(s) : 1;
}

const std::string& gradient_algorithm(const Settings& s) {
  return s.parallel.zero > 0 ? s.collectives.reduce_scatter : s.collectives.all_reduce;
}

ShardsPlan shards_of(const Settings& s) {
  return {.shards = s.ranks, .microbatches = s.parallel.microbatches, .buckets = bucket_rules(s)};
}

ShardsPlan shards_as_run(const Settings& s, const AllReduce* planted) {
  ShardsPlan plan = shards_of(s);
  plan.order = [=, name = gradient_algorithm(s)](std::size_t elements) {
    const int gpus_per_node = cluster_of(s).nodes(s.ranks) > 1 ? s.cluster.gpus_per_node : 0;
    return order_of_run(all_reduce_call(name, planted), s.ranks, gpus_per_node, elements).order;
  };
  return plan;
}

namespace {

TrainingOutcome outcome_of(JobResult job, const OnFailedJob& on_failed) {
  if (!job.ok()) {
    if (on_failed) {
      on_failed(job);
    }
    job.raise();
  }
  TrainingOutcome outcome{.job = std::move(job)};
  for (const auto& rank : outcome.job.ranks) {
    outcome.ranks.push_back(outcomes_of(rank.value));
  }
  return outcome;
}

}  // namespace

TrainingOutcome run_at_true_scale(const Settings& settings, JobOptions options, Fault fault,
                                  const OnFailedJob& on_failed) {
  options.cluster = cluster_of(settings);
  options.memory = Backing::meta;
  const PublishedModel model = published_model_of(settings);
  return outcome_of(
      run_job(settings.ranks, options,
              [&](Rank& rank) {
                return bytes_of(train_rank_at_true_scale(rank, settings, model, fault));
              }),
      on_failed);
}

TrainingOutcome run_training(const TrainingRequest& request, std::string_view text,
                             const Reference& reference) {
  const TrainingPlan plan = plan_of(request.settings, text, request.loss_divisor);
  const int ranks = request.settings.ranks;
  JobOptions options = request.options;
  options.cluster = cluster_of(request.settings);
  const auto share =
      plan.batch / static_cast<std::uint64_t>(data_parallel_ranks(request.settings)) + 1;
  options.region_bytes = memory_estimate(plan, share);
  return outcome_of(
      run_job(ranks, options,
              [&](Rank& rank) { return bytes_of(train_rank(rank, request, plan, reference)); }),
      request.on_failed);
}

}  // namespace ringside
