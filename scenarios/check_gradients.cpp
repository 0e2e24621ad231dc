// Training against one process: the gates of DP equivalence (docs/exactness.md).
#include <algorithm>
#include <cmath>

#include "scenarios/checks.hpp"

namespace ringside {

namespace {

// Honest f32 differences are near 1e-8 to 1e-7, from the order of additions alone.
struct Gates {
  double gradient;      // max |difference|
  double of_largest;    // that, over the largest gradient element of the model
  double worst_tensor;  // over the largest of its own tensor
  double parameter;
  double loss;  // relative
};

constexpr Gates f32_gates{1e-6, 1e-5, 1e-4, 1e-6, 1e-6};
constexpr Gates f64_gates{1e-12, 1e-12, 1e-12, 1e-12, 1e-12};

struct Worst {
  double value = 0;
  std::size_t step = 0;  // from 1; 0: all values are 0
};

// The worst over ranks and over the first `steps` steps; of equals the earliest.
template <class Measure>
Worst worst(const TrainingOutcome& outcome, std::size_t steps, Measure measure) {
  Worst most;
  for (std::size_t s = 0; s < steps; ++s) {
    for (const auto& rank : outcome.ranks) {
      if (s < rank.size() && (measure(rank[s]) > most.value || std::isnan(measure(rank[s])))) {
        most = {measure(rank[s]), s + 1};
      }
    }
  }
  return most;
}

// A row that says at which of several steps the worst was.
template <class Measure>
Check gate_row(std::string name, double limit, const TrainingOutcome& outcome, std::size_t steps,
               Measure measure, std::string note) {
  const Worst most = worst(outcome, steps, measure);
  if (steps > 1 && most.step > 0) {
    note += "; worst at step " + std::to_string(most.step);
  }
  return below(std::move(name), most.value, limit, std::move(note));
}

// Adam divides by small numbers: only its first gradients are from the same weights.
bool all_steps(const Settings& s) {
  return s.train.optimizer == "sgd" || s.train.steps == 1;
}

std::size_t steps_compared(const Settings& s) {
  return static_cast<std::size_t>(all_steps(s) ? s.train.steps : 1);
}

Checks gates(const std::string& prefix, const Gates& gate, const TrainingOutcome& outcome,
             const Settings& settings) {
  const std::size_t steps = steps_compared(settings);
  const auto row = [&](const char* what, double limit, auto measure, std::string note = {}) {
    return gate_row(prefix + what, limit, outcome, steps, measure, std::move(note));
  };
  return {
      row(
          ".gradient", gate.gradient, [](const StepOutcome& s) { return s.gradients.absolute; },
          all_steps(settings) ? "max |difference|, every step and rank"
                              : "max |difference| of the first step, every rank"),
      row(
          ".gradient_of_largest", gate.of_largest,
          [](const StepOutcome& s) { return s.gradients.of_largest; },
          "of the model's largest gradient element"),
      row(
          ".gradient_worst_tensor", gate.worst_tensor,
          [](const StepOutcome& s) { return s.gradients.worst_tensor; },
          "of the tensor's own largest"),
      row(
          ".gradient_norm", gate.loss,
          [](const StepOutcome& s) { return relative(s.reference_norm, s.gradient_norm); },
          "relative"),
      row(
          ".loss", gate.loss,
          [](const StepOutcome& s) { return relative(s.reference_loss, s.loss); }, "relative"),
  };
}

// Which steps were skipped, on every rank and in one process.
Check skipped_steps(const std::string& prefix, const TrainingOutcome& outcome) {
  std::size_t differing = 0;
  std::size_t skipped = 0;
  for (const auto& rank : outcome.ranks) {
    for (const StepOutcome& step : rank) {
      differing += step.skipped != step.reference_skipped ? 1 : 0;
      skipped += step.reference_skipped ? 1 : 0;
    }
  }
  const std::string steps = std::to_string(skipped / outcome.ranks.size()) + " of " +
                            std::to_string(outcome.ranks.front().size());
  return holds(prefix + ".skipped_steps", differing == 0,
               differing == 0 ? steps : std::to_string(differing) + " differ",
               "the same on every rank", "and in one process: a norm that is not finite");
}

// Of the largest element of the tensor that is furthest off.
std::string ulps_text(double ulps) {
  constexpr double meant = 1e15;  // more: the unit is that of a number next to 0
  if (!std::isfinite(ulps)) {
    return "no ULPs: not finite";
  }
  if (ulps > meant) {
    return "no ULPs: the reference is 0 in a whole tensor where the run is not";
  }
  return std::to_string(static_cast<long long>(ulps)) + " ULPs at most";
}

}  // namespace

Checks training_gates(const std::string& prefix, const Settings& settings,
                      const TrainingOutcome& outcome) {
  const Gates& gate = settings.model.dtype == "f64" ? f64_gates : f32_gates;
  const bool sgd = settings.train.optimizer == "sgd";
  Checks checks = gates(prefix, gate, outcome, settings);
  const auto all = static_cast<std::size_t>(settings.train.steps);
  if (sgd) {
    checks.push_back(gate_row(
        prefix + ".parameters", gate.parameter, outcome, all,
        [](const StepOutcome& s) { return s.parameters.absolute; },
        "max |difference| after every update"));
  } else {
    checks.push_back(gate_row(
        prefix + ".loss_later", 1e-5, outcome, all,
        [](const StepOutcome& s) { return relative(s.reference_loss, s.loss); },
        "relative, all steps; Adam divides by small numbers"));
  }
  if (settings.train.clip > 0 || settings.train.loss_scale != "none") {
    checks.push_back(skipped_steps(prefix, outcome));
  }
  return checks;
}

Checks check_gradients(const CheckContext& context) {
  Checks checks = training_gates(context.settings.model.dtype, context.settings, context.main);
  double ulps = worst(context.main, steps_compared(context.settings), [](const StepOutcome& s) {
                  return s.gradients.ulps;
                }).value;
  checks.front().note += "; " + ulps_text(ulps);
  return checks;
}

Checks check_f64(const CheckContext& context) {
  if (context.settings.model.dtype == "f64") {
    return {{.name = "f64.again",
             .measured = "f64",
             .gate = "another type than the model's",
             .verdict = CheckVerdict::not_applicable}};
  }
  Settings f64 = context.settings;
  f64.model.dtype = "f64";
  f64.train.resume.clear();  // a checkpoint is of one type
  const auto truth = reference_of(f64, plan_of(f64, context.text));
  return training_gates("f64", f64, context.run(f64, truth));
}

Checks check_sgd(const CheckContext& context) {
  Settings sgd = context.settings;
  sgd.train.optimizer = "sgd";
  sgd.train.resume.clear();  // a checkpoint is of one optimizer
  sgd.train.lr = TrainSettings{}.lr;
  const auto truth = reference_of(sgd, plan_of(sgd, context.text));
  return training_gates("sgd", sgd, context.run(sgd, truth));
}

Checks check_adamw(const CheckContext& context) {
  Settings adamw = context.settings;
  adamw.train.optimizer = "adamw";
  adamw.train.resume.clear();
  adamw.train.lr = 1e-3;
  const auto truth = reference_of(adamw, plan_of(adamw, context.text));
  return training_gates("adamw", adamw, context.run(adamw, truth));
}

}  // namespace ringside
