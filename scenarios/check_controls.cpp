// Negative controls: deliberate faults that the gates must catch. A gate that a fault passes is no
// gate.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "scenarios/checks.hpp"
#include "scenarios/control.hpp"
#include "scenarios/model_settings.hpp"
#include "scenarios/parallel_options.hpp"

namespace ringside {

namespace {

// What a training must have for the fault to mean something.
enum class Of : std::uint8_t { any, plain, zero, tensor, context, experts, pipeline };

struct Control {
  std::string_view name;
  Of of;
  Fault fault;
  double loss_divisor;
};

constexpr std::array controls{
    Control{"sum_not_mean", Of::any, Fault::sum_not_mean, 1},
    Control{"weights_not_broadcast", Of::any, Fault::weights_not_broadcast, 1},
    Control{"last_bucket_dropped", Of::plain, Fault::last_bucket_dropped, 1},
    Control{"contribution_lost", Of::plain, Fault::contribution_lost, 1},
    Control{"contribution_lost_loss_over_100", Of::plain, Fault::contribution_lost, 100},
    Control{"leave_not_reduced", Of::tensor, Fault::leave_not_reduced, 1},
    Control{"leave_not_reduced_loss_over_100", Of::tensor, Fault::leave_not_reduced, 100},
    Control{"replicated_gradient_not_summed", Of::tensor, Fault::replicated_gradient_not_summed, 1},
    Control{"norm_counted_per_rank", Of::tensor, Fault::norm_counted_per_rank, 1},
    Control{"padding_counted", Of::tensor, Fault::padding_counted, 1},
    Control{"gradient_scaled", Of::zero, Fault::gradient_scaled, 1},
    Control{"gradient_scaled_loss_over_100", Of::zero, Fault::gradient_scaled, 100},
    Control{"shard_offset_wrong", Of::zero, Fault::shard_offset_wrong, 1},
    Control{"norm_of_rank", Of::zero, Fault::norm_of_rank, 1},
    Control{"padding_counted_in_norm", Of::zero, Fault::padding_in_norm, 1},
    Control{"parameters_not_gathered", Of::zero, Fault::parameters_not_gathered, 1},
    Control{"positions_reset", Of::context, Fault::positions_reset, 1},
    Control{"kv_hop_skipped", Of::context, Fault::kv_hop_skipped, 1},
    Control{"kv_gradient_lost", Of::context, Fault::kv_gradient_lost, 1},
    Control{"kv_gradient_lost_loss_over_100", Of::context, Fault::kv_gradient_lost, 100},
    Control{"mean_of_means", Of::context, Fault::mean_of_means, 1},
    Control{"expert_gradient_divided", Of::experts, Fault::expert_gradient_divided, 1},
    Control{"expert_gradient_divided_loss_over_100", Of::experts, Fault::expert_gradient_divided,
            100},
    Control{"dispatch_offset_wrong", Of::experts, Fault::dispatch_offset_wrong, 1},
    Control{"masked_groups_eligible", Of::experts, Fault::masked_groups_eligible, 1},
    Control{"dropped_kept", Of::experts, Fault::dropped_kept, 1},
    Control{"norm_of_experts_here", Of::experts, Fault::norm_of_rank, 1},
    Control{"weight_gradient_lost", Of::pipeline, Fault::weight_gradient_lost, 1},
    Control{"weight_gradient_lost_loss_over_100", Of::pipeline, Fault::weight_gradient_lost, 100},
    Control{"copies_not_summed", Of::pipeline, Fault::copies_not_summed, 1},
};

bool has(const Settings& s, Of of) {
  const auto& p = s.parallel;
  switch (of) {
    case Of::zero:
      return p.zero > 0;
    case Of::tensor:
      return p.tp > 1;
    case Of::context:
      return p.cp > 1;
    case Of::experts:
      return has_experts(s);
    case Of::pipeline:
      return p.pp > 1;
    case Of::plain:
      return p.zero == 0 && p.tp * p.cp * p.pp == 1 && !has_experts(s);
    default:
      return true;
  }
}

// Why there is nothing that the fault of a mixture of experts could touch; empty: there is.
std::string untouched_by_experts(Fault fault, const Settings& s) {
  const ModelSettings& m = s.model;
  switch (fault) {
    case Fault::masked_groups_eligible:
      return m.router_top_groups > 0 && m.router_top_groups < m.router_groups
                 ? ""
                 : "every group is eligible";
    case Fault::dropped_kept:
      return m.capacity == 0 ? "nothing is dropped" : "";
    case Fault::dispatch_offset_wrong:
      return m.experts / s.parallel.ep == 1 ? "a rank has one expert of a layer" : "";
    default:
      return s.parallel.ep == 1 ? "parallel.ep = 1" : "";
  }
}

bool padded(const Settings& s) {
  return std::ranges::any_of(parts_held(s), [&](Held held) {
    return std::ranges::any_of(buckets_of(s, 0, held),
                               [](const Bucket& b) { return b.padded > b.count; });
  });
}

// Why there is nothing that the fault could touch; empty: there is.
std::string untouched(const Control& control, const Settings& s) {
  if (control.of == Of::experts) {
    return untouched_by_experts(control.fault, s);
  }
  const auto& p = s.parallel;
  switch (control.fault) {
    case Fault::padding_counted:
      return s.model.vocab % p.tp == 0 ? "the vocabulary is not padded" : "";
    case Fault::replicated_gradient_not_summed:
      return p.sp || p.tp > s.model.kv_heads ? "" : "no rank holds a gradient in parts";
    case Fault::copies_not_summed:
      return s.model.tied || p.schedule == "dualpipe" ? "" : "nothing is on two devices";
    case Fault::padding_in_norm:
      return padded(s) ? "" : "no bucket is padded";
    case Fault::gradient_scaled:
    case Fault::shard_offset_wrong:
    case Fault::norm_of_rank:
    case Fault::parameters_not_gathered:
    case Fault::weights_not_broadcast:
    case Fault::sum_not_mean:
      return s.ranks > 1 && gradient_ranks(s) == 1 ? "parallel.dp = 1" : "";
    default:
      return "";
  }
}

// Why the fault, which the data may leave nothing to do, has done nothing.
std::string without_effect(Fault fault, const Settings& s) {
  switch (fault) {
    case Fault::parameters_not_gathered:
      return s.train.steps == 1 ? "with one step nothing is computed from them" : "";
    case Fault::weight_gradient_lost:
      return s.train.batch < s.parallel.dp * s.parallel.microbatches
                 ? "a micro-batch without a sample has no gradient"
                 : "";
    case Fault::mean_of_means:
      return "every rank has as many counted tokens";
    case Fault::dropped_kept:
      return "nothing was dropped";
    case Fault::masked_groups_eligible:
      return "no token would have left its groups";
    default:
      return "";
  }
}

// Whether two steps are equal in all that the gates look at.
bool same_step(const StepOutcome& a, const StepOutcome& b) {
  return a.gradient_hash == b.gradient_hash && a.parameter_hash == b.parameter_hash &&
         a.loss == b.loss && a.gradient_norm == b.gradient_norm && a.skipped == b.skipped;
}

bool same_gradients(const StepOutcome& a, const StepOutcome& b) {
  return a.gradient_hash == b.gradient_hash;
}

// Whether two runs are the same in every step of every rank.
bool equal_by(bool (*same)(const StepOutcome&, const StepOutcome&), const TrainingOutcome& a,
              const TrainingOutcome& b) {
  return std::ranges::equal(a.ranks, b.ranks, [&](const auto& mine, const auto& theirs) {
    return std::ranges::equal(mine, theirs, same);
  });
}

}  // namespace

Checks check_controls(const CheckContext& context) {
  const Settings& s = context.settings;
  if (at_true_scale(s)) {
    return check_controls_at_true_scale(context);
  }
  Checks checks;
  for (const Control& control : controls) {
    if (!has(s, control.of)) {
      continue;
    }
    context.progress("control " + std::string(control.name));
    const ScaledRun* scaled =
        control.loss_divisor == 1 ? nullptr : &context.scaled(control.loss_divisor);
    const TrainingOutcome& sound = scaled ? scaled->outcome : context.main;
    const auto faulty =
        context.run(s, scaled ? scaled->truth : context.truth, control.fault, control.loss_divisor);
    std::string reason = untouched(control, s);
    const bool same = equal_by(same_gradients, faulty, sound);
    if (reason.empty() && same) {
      reason = without_effect(control.fault, s);
    }
    if (reason.empty() && !context.changed.empty() && equal_by(same_step, faulty, sound)) {
      reason = changed_nothing_here;
    }
    const bool changes_nothing = !reason.empty() || (s.ranks == 1 && same);
    checks.push_back(changes_nothing
                         ? control_changes_nothing(control.name, reason)
                         : judge_control(control.name, training_gates(s.model.dtype, s, faulty),
                                         training_gates(s.model.dtype, s, sound)));
  }
  return checks;
}

}  // namespace ringside
