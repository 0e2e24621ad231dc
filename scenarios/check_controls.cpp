// Negative controls: deliberate faults that the gates must catch. A gate that a fault passes is no
// gate.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/checks.hpp"
#include "scenarios/control.hpp"
#include "scenarios/model_settings.hpp"
#include "scenarios/parallel_options.hpp"

namespace ringside {

namespace {

struct Control {
  std::string_view name;
  Fault fault;
  double loss_divisor;
};

constexpr std::array data_parallel_controls{
    Control{"sum_not_mean", Fault::sum_not_mean, 1},
    Control{"last_bucket_dropped", Fault::last_bucket_dropped, 1},
    Control{"contribution_lost", Fault::contribution_lost, 1},
    Control{"contribution_lost_loss_over_100", Fault::contribution_lost, 100},
    Control{"weights_not_broadcast", Fault::weights_not_broadcast, 1},
};

constexpr std::array zero_controls{
    Control{"sum_not_mean", Fault::sum_not_mean, 1},
    Control{"weights_not_broadcast", Fault::weights_not_broadcast, 1},
    Control{"gradient_scaled", Fault::gradient_scaled, 1},
    Control{"gradient_scaled_loss_over_100", Fault::gradient_scaled, 100},
    Control{"shard_offset_wrong", Fault::shard_offset_wrong, 1},
    Control{"norm_of_rank", Fault::norm_of_rank, 1},
    Control{"padding_counted_in_norm", Fault::padding_in_norm, 1},
    Control{"parameters_not_gathered", Fault::parameters_not_gathered, 1},
};

constexpr std::array tensor_controls{
    Control{"sum_not_mean", Fault::sum_not_mean, 1},
    Control{"leave_not_reduced", Fault::leave_not_reduced, 1},
    Control{"leave_not_reduced_loss_over_100", Fault::leave_not_reduced, 100},
    Control{"replicated_gradient_not_summed", Fault::replicated_gradient_not_summed, 1},
    Control{"norm_counted_per_rank", Fault::norm_counted_per_rank, 1},
    Control{"padding_counted", Fault::padding_counted, 1},
};

constexpr std::array context_controls{
    Control{"positions_reset", Fault::positions_reset, 1},
    Control{"kv_hop_skipped", Fault::kv_hop_skipped, 1},
    Control{"kv_gradient_lost", Fault::kv_gradient_lost, 1},
    Control{"kv_gradient_lost_loss_over_100", Fault::kv_gradient_lost, 100},
    Control{"mean_of_means", Fault::mean_of_means, 1},
};

constexpr std::array expert_controls{
    Control{"sum_not_mean", Fault::sum_not_mean, 1},
    Control{"weights_not_broadcast", Fault::weights_not_broadcast, 1},
    Control{"expert_gradient_divided", Fault::expert_gradient_divided, 1},
    Control{"expert_gradient_divided_loss_over_100", Fault::expert_gradient_divided, 100},
    Control{"dispatch_offset_wrong", Fault::dispatch_offset_wrong, 1},
    Control{"masked_groups_eligible", Fault::masked_groups_eligible, 1},
    Control{"dropped_kept", Fault::dropped_kept, 1},
    Control{"norm_of_rank", Fault::norm_of_rank, 1},
};

constexpr std::array pipeline_controls{
    Control{"weight_gradient_lost", Fault::weight_gradient_lost, 1},
    Control{"weight_gradient_lost_loss_over_100", Fault::weight_gradient_lost, 100},
    Control{"copies_not_summed", Fault::copies_not_summed, 1},
};

std::vector<Control> controls_of(const Settings& settings) {
  const auto& p = settings.parallel;
  std::vector<Control> controls;
  if (has_experts(settings)) {
    controls.assign(expert_controls.begin(), expert_controls.end());
  }
  if (p.tp > 1) {
    controls.assign(tensor_controls.begin(), tensor_controls.end());
  }
  if (p.zero > 0) {
    controls.insert(controls.end(), zero_controls.begin() + (p.tp > 1 ? 1 : 0),
                    zero_controls.end());
  }
  if (p.cp > 1) {
    controls.insert(controls.end(), context_controls.begin(), context_controls.end());
  }
  if (p.pp > 1) {
    controls.insert(controls.end(), pipeline_controls.begin(), pipeline_controls.end());
  }
  if (controls.empty()) {
    controls.assign(data_parallel_controls.begin(), data_parallel_controls.end());
  }
  return controls;
}

// Of a mixture of experts: why there is nothing that the fault could touch; empty: there is.
std::string untouched_by_experts(const Control& control, const Settings& settings) {
  const ModelSettings& m = settings.model;
  const ParallelSettings& p = settings.parallel;
  switch (control.fault) {
    case Fault::masked_groups_eligible:
      return m.router_top_groups > 0 && m.router_top_groups < m.router_groups
                 ? ""
                 : "every group is eligible";
    case Fault::dropped_kept:
      return m.capacity == 0 ? "nothing is dropped" : "";
    case Fault::norm_of_rank:
    case Fault::expert_gradient_divided:
      return p.ep == 1 ? "parallel.ep = 1" : "";
    case Fault::dispatch_offset_wrong:
      return m.experts / p.ep == 1 ? "a rank has one expert of a layer" : "";
    default:
      return p.dp == 1 ? "parallel.dp = 1" : "";
  }
}

// Why there is nothing that the fault could touch; empty: there is.
std::string untouched(const Control& control, const Settings& settings) {
  if (has_experts(settings)) {
    return untouched_by_experts(control, settings);
  }
  const auto& p = settings.parallel;
  const bool copies = p.sp || p.tp > settings.model.kv_heads;
  const auto buckets = buckets_of(settings);
  switch (control.fault) {
    case Fault::padding_counted:
      return settings.model.vocab % p.tp == 0 ? "the vocabulary is not padded" : "";
    case Fault::replicated_gradient_not_summed:
      return copies ? "" : "no rank holds a gradient in parts";
    case Fault::copies_not_summed:
      return settings.model.tied || p.schedule == "dualpipe" ? "" : "nothing is on two devices";
    case Fault::padding_in_norm:
      return std::ranges::any_of(buckets, [](const Bucket& b) { return b.padded > b.count; })
                 ? ""
                 : "no bucket is padded";
    case Fault::gradient_scaled:
    case Fault::shard_offset_wrong:
    case Fault::norm_of_rank:
    case Fault::parameters_not_gathered:
    case Fault::weights_not_broadcast:
    case Fault::sum_not_mean:
      return p.tp * p.pp > 1 && gradient_ranks(settings) == 1 ? "parallel.dp = 1" : "";
    default:
      return "";
  }
}

bool same_run(const TrainingOutcome& a, const TrainingOutcome& b) {
  for (std::size_t r = 0; r < a.ranks.size(); ++r) {
    for (std::size_t s = 0; s < a.ranks[r].size(); ++s) {
      if (a.ranks[r][s].gradient_hash != b.ranks[r][s].gradient_hash) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

Checks check_controls(const CheckContext& context) {
  const Settings& s = context.settings;
  if (at_true_scale(s)) {
    return check_controls_at_true_scale(context);
  }
  Checks checks;
  for (const Control& control : controls_of(s)) {
    context.progress("control " + std::string(control.name));
    const bool scaled = control.loss_divisor != 1;
    const Reference truth =
        scaled ? reference_of(s, plan_of(s, context.text, control.loss_divisor)) : context.truth;
    const auto faulty = context.run(s, truth, control.fault, control.loss_divisor);
    std::optional<TrainingOutcome> without;
    if (scaled) {
      without = context.run(s, truth, Fault::none, control.loss_divisor);
    }
    const TrainingOutcome& sound = without ? *without : context.main;
    std::string reason = untouched(control, s);
    if (control.fault == Fault::mean_of_means && same_run(faulty, sound)) {
      reason = "every rank has as many counted tokens";
    }
    const bool changes_nothing = !reason.empty() || (s.ranks == 1 && same_run(faulty, sound));
    checks.push_back(changes_nothing
                         ? control_changes_nothing(control.name, reason)
                         : judge_control(control.name, training_gates(s.model.dtype, s, faulty),
                                         training_gates(s.model.dtype, s, sound)));
  }
  return checks;
}

}  // namespace ringside
