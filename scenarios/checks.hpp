// The checks that a scenario can ask for by name: a table, and the functions behind it.
//
// Each check measures something of the run (or runs a job of its own beside it) and puts it beside
// a gate. A new check is a function and a row.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string_view>

#include "scenarios/check.hpp"
#include "scenarios/run_report.hpp"
#include "scenarios/training_job.hpp"

namespace ringside {

// The scenario without a fault, its loss scaled down, beside one process.
struct ScaledRun {
  Reference truth;
  TrainingOutcome outcome;
};

// What a check can look at.
struct CheckContext {
  Settings settings;
  std::string_view text;
  const Reference& truth;       // one process, the whole batch at once
  const TrainingOutcome& main;  // the scenario's own job
  JobOptions options;           // for further jobs: no log, no trace
  std::function<void(std::string_view)> progress;
  std::vector<std::string> changed{};  // what the command line changed in the scenario
  std::shared_ptr<std::map<double, ScaledRun>> scaled_runs =
      std::make_shared<std::map<double, ScaledRun>>();

  // By the divisor of the loss; made when it is first asked for.
  const ScaledRun& scaled(double loss_divisor) const;

  // A further job of the scenario with other settings.
  TrainingOutcome run(const Settings& other, const Reference& reference, Fault fault = Fault::none,
                      double loss_divisor = 1) const;
};

struct CheckRow {
  std::string_view name;
  std::string_view meaning;
  Checks (*run)(const CheckContext& context);
};

std::span<const CheckRow> check_rows();

// Their names, for the settings.
std::span<const std::string_view> check_names();

// ---- the functions, by file ------------------------------------------------------------------
Checks check_gradients(const CheckContext& context);  // check_gradients.cpp
Checks check_f64(const CheckContext& context);
Checks check_adamw(const CheckContext& context);
Checks check_sgd(const CheckContext& context);
Checks check_replicas(const CheckContext& context);  // check_replicas.cpp
Checks check_one_node(const CheckContext& context);
Checks check_shards(const CheckContext& context);  // check_shards.cpp
Checks check_accumulation(const CheckContext& context);
Checks check_controls(const CheckContext& context);  // check_controls.cpp
Checks check_controls_at_true_scale(const CheckContext& context);
Checks check_traffic(const CheckContext& context);  // check_traffic.cpp
Checks check_busiest(const CheckContext& context);
Checks check_buckets(const CheckContext& context);  // check_buckets.cpp
Checks check_exposed(const CheckContext& context);  // check_exposed.cpp
Checks check_exposed_at_true_scale(const CheckContext& context);
Checks check_activations(const CheckContext& context);  // check_tensor.cpp
Checks check_across_nodes(const CheckContext& context);
Checks check_pairs(const CheckContext& context);      // check_context.cpp
Checks check_recompute(const CheckContext& context);  // check_recompute.cpp
Checks check_recompute_at_true_scale(const CheckContext& context);
Checks check_routing(const CheckContext& context);  // check_experts.cpp
Checks check_dispatch_overlap(const CheckContext& context);
Checks check_straggler(const CheckContext& context);
Checks check_placement(const CheckContext& context);
Checks check_pipeline(const CheckContext& context);   // check_pipeline.cpp
Checks check_zero_bits(const CheckContext& context);  // check_zero.cpp
Checks check_model_state(const CheckContext& context);
Checks check_prefetch(const CheckContext& context);       // check_prefetch.cpp
Checks check_batch_norm(const CheckContext& context);     // check_batch_norm.cpp
Checks check_learning_rate(const CheckContext& context);  // check_learning_rate.cpp

// The gates of a training run against its reference, named "prefix.…"; f32 or f64 by the settings.
Checks training_gates(const std::string& prefix, const Settings& settings,
                      const TrainingOutcome& outcome);

// At true scale: activations by what they belong to, in the ledger and by formula; none of a part
// of a model.
Checks activation_gates(const Settings& settings, const TrainingOutcome& outcome);

// At true scale: modelled backward and exposed time, executed and by formula; none where there is
// no formula.
Checks exposed_gates(const Settings& settings, const TrainingOutcome& outcome);

// Bytes of weights, gradients, masters and optimizer state of a rank.
std::int64_t model_state_by_formula(const Settings& settings, int rank);

// Why a rank of the scenario runs out of the memory that it has, by formula: model state, or, where
// that fits, the inputs of the layers beside it.
Check check_does_not_fit(const Settings& settings);
// Of a model with experts: their weights alone, when every card has them all.
Checks check_experts_do_not_fit(const Settings& settings);
// The negative control of a run that is out of memory: without the limit a card ends its work.
Check check_capacity_lifted(const Settings& settings);

// Every row of a rank's traffic that a formula speaks of, counted and computed.
std::vector<TrafficComparison> compare_traffic(const Settings& settings, const JobResult& job,
                                               const Reference& truth);

}  // namespace ringside
