// One job of a scenario: ranks that train with data parallelism, ZeRO or tensor parallelism, each
// comparing every step with a reference that one process had computed before.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "collectives/all_reduce.hpp"
#include "models/training.hpp"
#include "parallel/buckets.hpp"
#include "parallel/deviation.hpp"
#include "parallel/expert/groups_in_turn.hpp"
#include "parallel/fault.hpp"
#include "parallel/first_difference.hpp"
#include "parallel/shards_in_turn.hpp"
#include "runtime/launch.hpp"
#include "scenarios/collective_formula.hpp"
#include "scenarios/settings.hpp"

namespace ringside {

// What one process makes of a training.
struct Reference {
  std::vector<StepRecord> steps{};
  std::vector<RoutedGroup> routed{};  // what the routers of a mixture of experts decided
};

// Of all layers and ranks, in one step.
struct RoutingOutcome {
  int layers = 0;            // with a router, that the rank has
  double balance = 0;        // the auxiliary loss without its coefficient, sum over the layers
  double imbalance = 0;      // the most that an expert was chosen, over the mean; the worst layer
  std::int64_t choices = 0;  // before any were dropped
  std::int64_t dropped = 0;
};

// What a rank saw of one step; plain, so that it travels as it is. Of tensors of which ZeRO leaves
// the rank a part, the rest counts as the reference's.
struct StepOutcome {
  double loss = 0;
  double gradient_norm = 0;
  double reference_loss = 0;
  double reference_norm = 0;
  Deviation gradients;    // from the reference
  Deviation parameters;   // after the update
  FirstDifference first;  // of the gradients
  std::uint64_t gradient_hash = 0;
  std::uint64_t parameter_hash = 0;
  std::uint64_t shard_gradient_hash = 0;  // of the elements in this rank's chunk of every bucket
  std::uint64_t shard_parameter_hash = 0;
  std::uint64_t copies_hash = 0;  // gradients and parameters that every tensor-parallel rank holds
  std::uint64_t kv_hash = 0;      // of keys and values
  bool skipped = false;           // no update: the norm was not finite
  bool reference_skipped = false;
  std::int64_t head_pairs = 0;  // (query, key, head) so far, of context parallelism
  std::array<std::int64_t, category_count> memory{};  // in use after the update, by category
  int peak_in_flight = 0;  // micro-batches of a stage that a pipeline's device has held at once
  // At true scale, bytes of activations of the blocks (block_activations_watch.hpp).
  std::int64_t kept_of_blocks = 0;
  std::int64_t in_flight_of_blocks = 0;
  RoutingOutcome routing{};  // of a mixture of experts
  Time start{0};
  Time forward_end{0};  // this and the next: of the last micro-batch
  Time backward_end{0};
  Time gradients_ready{0};
  Time end{0};
};

struct TrainingOutcome {
  JobResult job;
  std::vector<std::vector<StepOutcome>> ranks{};  // [rank][step]
};

// Gets a job that did not end well, before its failure is thrown.
using OnFailedJob = std::function<void(const JobResult&)>;

struct TrainingRequest {
  Settings settings;
  Fault fault = Fault::none;
  double loss_divisor = 1;
  const AllReduce* all_reduce = nullptr;  // instead of the settings'
  bool saves = false;                     // checkpoints, as train.save says
  JobOptions options;                     // cluster and region are filled in
  OnFailedJob on_failed{};
};

// The plan of a scenario. `text` outlives it. With train.resume it starts from what was read of it.
TrainingPlan plan_of(const Settings& settings, std::string_view text, double loss_divisor = 1);

// What one process makes of the plan: the whole batch at once, or, where it matters which tokens
// are routed together, the ranks' micro-batches in turn. A run computes it once.
Reference reference_of(const Settings& settings, const TrainingPlan& plan);

// The bucket layout of a rank of the scenario, from its settings alone; without experts.
std::vector<Bucket> buckets_of(const Settings& settings, int rank = 0, Held held = Held::dense);
// What a rank has that does not learn: the biases of routers.
std::size_t frozen_elements(const Settings& settings, int rank);

// Forwards and backwards of a step: of micro-batches, or of pairs of them.
int passes_of(const Settings& settings);

// How often a step reduces each gradient: once, or after every one of these.
int reductions_of(const Settings& settings);

// The algorithm that adds gradients up.
const std::string& gradient_algorithm(const Settings& settings);

// One process that runs the shards of a scenario in turn: in the order of the ranks, or as the
// scenario's all-reduce adds them, found by running it on symbols.
ShardsPlan shards_of(const Settings& settings);
ShardsPlan shards_as_run(const Settings& settings, const AllReduce* planted = nullptr);

// Throws what a failed rank stands for (JobResult::raise).
TrainingOutcome run_training(const TrainingRequest& request, std::string_view text,
                             const Reference& reference);

// The steps of a published model on meta memory: times, traffic and memory of the real ones. Losses
// are 0. Throws as run_training does.
TrainingOutcome run_at_true_scale(const Settings& settings, JobOptions options,
                                  Fault fault = Fault::none, const OnFailedJob& on_failed = {});

}  // namespace ringside
