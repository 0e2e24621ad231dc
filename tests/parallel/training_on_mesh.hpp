// A GPT small enough for a test, trained over a mesh of ranks beside one process. With experts the
// process trains by routing groups, and ep ranks share them.
#pragma once

#include <map>

#include "models/random.hpp"
#include "parallel/expert/groups_in_turn.hpp"
#include "parallel/mesh_training.hpp"
#include "tests/parallel/tensor_training.hpp"

namespace ringside {

inline GptConfig gpt_of_experts(DType dtype = DType::f64) {
  return {.layers = 2,
          .hidden = 16,
          .heads = 4,
          .kv_heads = 2,
          .ffn = 12,
          .vocab = 256,
          .dtype = dtype,
          .experts = 8,
          .top_k = 2};
}

// 8 samples of 9 bytes a step, but for the first of 27.
inline TrainingPlan plan_of_experts(const GptConfig& config, std::uint64_t batch = 8) {
  return {.model = config,
          .optimizer = {.kind = "sgd", .lr = 0.1},
          .data = {.text = builtin_text(), .seed = 3, .sequence = 9, .context = 1},
          .steps = 3,
          .batch = batch};
}

struct OnMesh {
  MeshShape mesh{.dp = 2};
  int ep = 2;
  bool by_node = false;
  bool random_placement = false;
  bool sequence = false;  // sequence parallelism, with tp
  int zero = 0;
  int microbatches = 1;
  ContextParallelOptions context{};
  std::optional<PipelinePlan> pipeline{};
  int gpus_per_node = 0;  // 0: one node
  Fault fault = Fault::none;
  Ranks as = Ranks::processes;
};

struct SeenOnMesh {
  double gradients = 0;     // every step, absolute
  double expert_ratio = 1;  // of the gradient that is furthest from 1, where it is not small
  double parameters = 0;
  double loss = 0;  // relative
  double norm = 0;
  std::uint64_t bits_differ = 0;           // elements of the experts' gradients
  std::int64_t operations = 0;             // all-to-alls of rows, this rank
  double balance = 0;                      // of the first layer, last step
  std::int64_t dropped = 0;                // last step
  std::uint64_t router_hash = 0;           // of the router weights, all steps
  double reported = 0;                     // loss of the last step
  std::array<std::uint64_t, 20> tables{};  // of the embedding's values, by step; 0: not here
  std::int64_t copies_sent = 0;            // bytes of gradients of what two stages have
};

inline JobOptions job_of(const OnMesh& on, const TrainingPlan& plan) {
  JobOptions options{.as = on.as, .region_bytes = 4 * memory_estimate(plan, plan.batch)};
  if (on.gpus_per_node > 0) {
    options.cluster.gpus_per_node = on.gpus_per_node;
  }
  return options;
}

// The elements of `whole` that a parameter, or a piece of one, stands for.
inline std::vector<double> expected_of(const Parameter& parameter,
                                       const std::vector<double>& whole) {
  if (!parameter.piece) {
    return part_of(parameter, whole);
  }
  const auto part = parts_of({*parameter.piece}, {whole}).front();
  const auto first = part.begin() + static_cast<std::ptrdiff_t>(parameter.piece->first);
  return {first, first + static_cast<std::ptrdiff_t>(parameter.value.count())};
}

inline void compare(const StepRecord& record, const std::vector<Parameter*>& parts,
                    const StepRecord& truth, const std::map<std::string, std::size_t>& places,
                    SeenOnMesh& seen) {
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const std::size_t at = places.at(parts[p]->name);
    const auto value = expected_of(*parts[p], truth.parameters[at]);
    for (std::size_t i = 0; i < value.size(); ++i) {
      seen.parameters = std::max(seen.parameters, std::abs(value[i] - record.parameters[p][i]));
    }
    if (!parts[p]->trainable) {
      continue;
    }
    const auto grad = expected_of(*parts[p], truth.gradients[at]);
    for (std::size_t i = 0; i < grad.size(); ++i) {
      const double mine = record.gradients[p][i];
      seen.gradients = std::max(seen.gradients, std::abs(grad[i] - mine));
      seen.bits_differ += !parts[p]->expert || grad[i] == mine ? 0U : 1U;
      if (parts[p]->expert && std::abs(grad[i]) > 1e-3) {
        const double ratio = mine / grad[i];
        seen.expert_ratio =
            std::abs(ratio - 1) > std::abs(seen.expert_ratio - 1) ? ratio : seen.expert_ratio;
      }
    }
  }
}

// Of the values whose names have this in them.
inline std::uint64_t hash_of(const std::vector<Parameter*>& parameters, const StepRecord& record,
                             std::string_view in_name) {
  std::uint64_t hash = 0;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    if (parameters[p]->name.find(in_name) != std::string::npos) {
      for (const double x : record.parameters[p]) {
        hash = mix(hash ^ std::bit_cast<std::uint64_t>(x));
      }
    }
  }
  return hash;
}

inline std::optional<ExpertPlan> experts_of(const OnMesh& on, const GptConfig& config) {
  if (config.experts == 0) {
    return std::nullopt;
  }
  return ExpertPlan{.placement = on.random_placement ? Placement::random(config.experts, on.ep, 7)
                                                     : Placement(config.experts, on.ep),
                    .by_node = on.by_node,
                    .fault = on.fault};
}

inline SeenOnMesh train_mesh_rank(Rank& rank, const OnMesh& on, const TrainingPlan& plan,
                                  const std::vector<StepRecord>& truth) {
  const GptConfig& config = std::get<GptConfig>(plan.model);
  const auto places = places_by_name(config);
  const ReplicatedOptions replicated{
      .zero = on.zero,
      .data = {.buckets = {.limit = Bytes{4096}}, .fault = on.fault},
      .sharded = {.stage = on.zero, .buckets = {.limit = Bytes{4096}}}};
  MeshTraining training(rank, plan,
                        {.shape = on.mesh,
                         .microbatches = on.microbatches,
                         .replicated = replicated,
                         .tensor = {.sequence = on.sequence},
                         .context = on.context,
                         .pipeline = on.pipeline,
                         .experts = experts_of(on, config)});
  training.distribute();
  const auto parameters = training.parameters();
  const auto optimizer = make_optimizer(plan.optimizer, rank.memory(), parameters);
  SeenOnMesh seen;
  const auto gradient = [&](int s) {
    const StepSum sum = training.gradient(s);
    seen.reported = sum.loss / static_cast<double>(sum.tokens);
    if (training.experts() != nullptr && !training.experts()->routers().empty()) {
      const auto& routers = training.experts()->routers();
      seen.balance = balance_of(routers.front());
      seen.dropped = routers.front().dropped;
    }
    return sum;
  };
  train(
      plan, parameters, *optimizer, gradient,
      [&](int s, const StepRecord& record) {
        training.end_update();
        const StepRecord& reference = truth[static_cast<std::size_t>(s)];
        compare(record, parameters, reference, places, seen);
        seen.loss = std::max(seen.loss, relative(reference.loss, record.loss));
        seen.norm = std::max(seen.norm, relative(reference.gradient_norm, record.gradient_norm));
        seen.router_hash = mix(seen.router_hash ^ hash_of(parameters, record, ".router."));
        seen.tables.at(static_cast<std::size_t>(s)) = hash_of(parameters, record, "embed.weight");
      },
      training.seams());
  for (const auto& sum : rank.traffic().sums()) {
    const std::string_view label(sum.label);
    if (label.ends_with(".dispatch") || label.ends_with(".combine")) {
      seen.operations += sum.sent_messages;
    }
    seen.copies_sent += std::string_view(sum.group) == "pp.copies" ? sum.sent_bytes : 0;
  }
  return seen;
}

// Of every rank.
inline std::vector<SeenOnMesh> train_on_mesh(const OnMesh& on, const TrainingPlan& plan,
                                             const std::vector<StepRecord>& truth) {
  return run_ranks_tested(on.mesh.ranks(), job_of(on, plan),
                          [&](Rank& rank) { return train_mesh_rank(rank, on, plan, truth); });
}

inline std::vector<SeenOnMesh> train_on_mesh(const OnMesh& on, const TrainingPlan& plan) {
  return train_on_mesh(on, plan, train_groups_in_turn(plan, on.mesh.dp, on.microbatches).steps);
}

inline SeenOnMesh worst_of(const std::vector<SeenOnMesh>& all) {
  SeenOnMesh most;
  for (const auto& seen : all) {
    most.gradients = std::max(most.gradients, seen.gradients);
    most.expert_ratio = std::abs(seen.expert_ratio - 1) > std::abs(most.expert_ratio - 1)
                            ? seen.expert_ratio
                            : most.expert_ratio;
    most.parameters = std::max(most.parameters, seen.parameters);
    most.loss = std::max(most.loss, seen.loss);
    most.norm = std::max(most.norm, seen.norm);
    most.bits_differ += seen.bits_differ;
  }
  return most;
}

}  // namespace ringside
