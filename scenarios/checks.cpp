#include "scenarios/checks.hpp"

#include <array>

#include "scenarios/model_settings.hpp"

namespace ringside {

namespace {

constexpr std::array rows{
    CheckRow{"gradients", "every step against one process: loss, norm, gradients, parameters",
             check_gradients},
    CheckRow{"f64", "the same in f64", check_f64},
    CheckRow{"shards", "one process that runs the shards in turn, bit for bit", check_shards},
    CheckRow{"adamw", "the same with AdamW: gradients at step 1, losses after", check_adamw},
    CheckRow{"sgd", "the same with SGD, parameters too", check_sgd},
    CheckRow{"replicas", "gradients and parameters have the same bits on every rank",
             check_replicas},
    CheckRow{"traffic", "bytes sent and received, counted and by formula", check_traffic},
    CheckRow{"buckets", "how many there are, and what they cost, beside a count of tensors' sizes",
             check_buckets},
    CheckRow{"busiest", "what the busiest rank receives, against the peer scenario's all-reduce",
             check_busiest},
    CheckRow{"exposed", "communication time that backward does not hide", check_exposed},
    CheckRow{"one_node", "the same bits as on one node", check_one_node},
    CheckRow{"zero_bits", "ZeRO has the bits of data parallelism, in every step", check_zero_bits},
    CheckRow{"model_state", "bytes of weights, gradients and optimizer state, beside the formula",
             check_model_state},
    CheckRow{"prefetch", "time in which ZeRO-3 waits for parameters, with prefetch and without",
             check_prefetch},
    CheckRow{"activations", "the peak of activations beside that without sequence parallelism",
             check_activations},
    CheckRow{"across_nodes", "modelled time with tensor parallelism inside a machine, and across",
             check_across_nodes},
    CheckRow{"pairs", "causal work of every context-parallel rank, counted while executing",
             check_pairs},
    CheckRow{"recompute", "the bits of a run that keeps everything, in less memory and more time",
             check_recompute},
    CheckRow{"routing", "nodes that a token goes to, imbalance, what is dropped, the balance loss",
             check_routing},
    CheckRow{"dispatch_overlap", "modelled time with parallel.ep_overlap and without",
             check_dispatch_overlap},
    CheckRow{"straggler", "what hot experts cost: rows of the busiest rank, and modelled time",
             check_straggler},
    CheckRow{"placement", "bytes between machines with neighbours together, and placed at random",
             check_placement},
    CheckRow{"pipeline", "modelled time, bubble and micro-batches in flight, beside the schedule's",
             check_pipeline},
    CheckRow{"batch_norm", "statistics of each rank's own tokens break it; those of all do not",
             check_batch_norm},
    CheckRow{"learning_rate", "how far the weights get when the batch grows and the rate does not",
             check_learning_rate},
    CheckRow{"accumulation", "equal to one micro-batch, for one reduction", check_accumulation},
    CheckRow{"controls", "deliberate faults, each of which must be caught", check_controls},
};

}  // namespace

std::span<const CheckRow> check_rows() {
  return rows;
}

std::span<const std::string_view> check_names() {
  static const auto names = [] {
    std::array<std::string_view, rows.size()> all;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      all[i] = rows[i].name;
    }
    return all;
  }();
  return names;
}

const ScaledRun& CheckContext::scaled(double loss_divisor) const {
  auto found = scaled_runs->find(loss_divisor);
  if (found == scaled_runs->end()) {
    ScaledRun made{reference_of(settings, plan_of(settings, text, loss_divisor)), {}};
    made.outcome = run(settings, made.truth, Fault::none, loss_divisor);
    found = scaled_runs->emplace(loss_divisor, std::move(made)).first;
  }
  return found->second;
}

TrainingOutcome CheckContext::run(const Settings& other, const Reference& reference, Fault fault,
                                  double loss_divisor) const {
  if (at_true_scale(other)) {
    return run_at_true_scale(other, options, fault);
  }
  return run_training(
      {.settings = other, .fault = fault, .loss_divisor = loss_divisor, .options = options}, text,
      reference);
}

}  // namespace ringside
