// Negative controls of a run without data: traffic, model state and times must show each fault.
#include <algorithm>
#include <array>

#include "scenarios/checks.hpp"
#include "scenarios/control.hpp"
#include "scenarios/model_settings.hpp"
#include "scenarios/parallel_options.hpp"

namespace ringside {

namespace {

struct Control {
  std::string_view name;
  std::string_view check;  // whose gates must catch it
  Fault fault = Fault::none;
  void (*change)(Settings&) = [](Settings& /*unchanged*/) {};
  bool applies = true;
};

std::vector<Control> controls_of(const Settings& s) {
  const bool zero = s.parallel.zero > 0;
  const bool reduces = gradient_ranks(s) > 1;
  return {{.name = "last_bucket_dropped",
           .check = "traffic",
           .fault = Fault::last_bucket_dropped,
           .applies = reduces && !zero},
          {.name = "parameters_not_gathered",
           .check = "traffic",
           .fault = Fault::parameters_not_gathered,
           .applies = reduces && zero},
          {.name = "leave_not_reduced",
           .check = "traffic",
           .fault = Fault::leave_not_reduced,
           .applies = s.parallel.tp > 1},
          {.name = "moment_not_kept",
           .check = "model_state",
           .change = [](Settings& faulty) { faulty.train.optimizer = "sgd"; },
           .applies = s.train.optimizer == "adamw"},
          {.name = "reduced_after_backward",
           .check = "exposed",
           .change = [](Settings& faulty) { faulty.dp.overlap = false; },
           .applies = s.dp.overlap},
          {.name = "blocks_kept",
           .check = "recompute",
           .change =
               [](Settings& faulty) {
                 faulty.parallel.recompute = "none";
                 faulty.cluster.capacity.reset();
               },
           .applies = s.parallel.recompute == "full"},
          {.name = "other_account",
           .check = "exposed",
           .change = [](Settings& faulty) { faulty = *by_other_account(faulty); },
           .applies = by_other_account(s).has_value()}};
}

// The gates of a check on an outcome, without further jobs.
Checks gates_of(const CheckContext& context, std::string_view check) {
  return check == "traffic"       ? check_traffic(context)
         : check == "model_state" ? check_model_state(context)
         : check == "recompute"   ? activation_gates(context.settings, context.main)
                                  : exposed_gates(context.settings, context.main);
}

}  // namespace

Checks check_controls_at_true_scale(const CheckContext& context) {
  const Settings& s = context.settings;
  Checks checks;
  for (const Control& control : controls_of(s)) {
    if (!control.applies || std::ranges::find(s.checks.run, control.check) == s.checks.run.end()) {
      continue;
    }
    const Checks sound = gates_of(context, control.check);
    if (sound.empty()) {
      continue;
    }
    context.progress("control " + std::string(control.name));
    Settings changed = s;
    control.change(changed);
    const TrainingOutcome faulty = context.run(changed, context.truth, control.fault);
    const CheckContext seen{.settings = s,
                            .text = context.text,
                            .truth = context.truth,
                            .main = faulty,
                            .options = context.options,
                            .progress = context.progress,
                            .changed = context.changed};
    const Checks gates = gates_of(seen, control.check);
    const bool same = std::ranges::equal(
        gates, sound, [](const Check& a, const Check& b) { return a.measured == b.measured; });
    checks.push_back(same && !context.changed.empty()
                         ? control_changes_nothing(control.name, changed_nothing_here)
                         : judge_control(control.name, gates, sound));
  }
  if (s.parallel.zero > 0) {
    checks.push_back(control_changes_nothing("padding_counted_in_norm",
                                             "without data there is no norm to look at"));
  }
  return checks;
}

}  // namespace ringside
