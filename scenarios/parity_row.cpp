#include "scenarios/parity_row.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "models/text.hpp"
#include "runtime/errors.hpp"
#include "scenarios/checks.hpp"
#include "scenarios/control.hpp"
#include "scenarios/exit_codes.hpp"
#include "scenarios/model_settings.hpp"
#include "scenarios/overrides.hpp"

namespace ringside {

namespace {

ParityFigures figures_of(const TrainingOutcome& outcome) {
  const StepOutcome& last = outcome.ranks.front().back();
  ParityFigures figures{.loss = last.loss, .norm = last.gradient_norm};
  for (const auto& rank : outcome.ranks) {
    for (const StepOutcome& step : rank) {
      figures.absolute = std::max(figures.absolute, step.gradients.absolute);
      figures.relative = std::max(figures.relative, step.gradients.of_largest);
      figures.ulps = std::max(figures.ulps, step.gradients.ulps);
    }
  }
  return figures;
}

// The gates that are broken, with what was measured; empty: none.
std::string broken_gates(const Checks& gates) {
  std::string text;
  for (const Check& gate : gates) {
    if (gate.verdict == CheckVerdict::fail) {
      text += fmt::format("{}{} = {}, but must be {}", text.empty() ? "" : "; ", gate.name,
                          gate.measured.dump(), gate.gate);
    }
  }
  return text;
}

}  // namespace

std::string_view name_of(ParityVerdict verdict) {
  switch (verdict) {
    case ParityVerdict::pass:
      return "pass";
    case ParityVerdict::refused:
      return "refused";
    case ParityVerdict::caught:
      return "caught";
    case ParityVerdict::missed:
      return "MISSED";
    default:
      return "FAIL";
  }
}

bool row_holds(const ParityRow& row) {
  return row.verdict != ParityVerdict::fail && row.verdict != ParityVerdict::missed;
}

// What one process computes depends on the cut of the batch only where tokens are routed together.
const Reference& ParityRuns::reference(const Settings& s) {
  const auto key = has_experts(s) ? std::pair(s.parallel.dp, s.parallel.microbatches)
                                  : std::pair(0, s.train.batch);
  auto found = references_.find(key);
  if (found == references_.end()) {
    found = references_.emplace(key, reference_of(s, plan_of(s, builtin_text()))).first;
  }
  return found->second;
}

TrainingOutcome ParityRuns::run(const Settings& s, Fault fault) {
  return run_training(
      {.settings = s, .fault = fault, .options = {.limit = limit_, .log = LogLevel::summary}},
      builtin_text(), reference(s));
}

const Checks& ParityRuns::gates_without_fault(const Settings& s) {
  auto found = gates_.find(plan_name(s));
  if (found == gates_.end()) {
    found = gates_.emplace(plan_name(s), training_gates("f32", s, run(s, Fault::none))).first;
  }
  return found->second;
}

ParityRow ParityRuns::row_of(const ParityPlan& plan) {
  Settings s = plan.settings;
  ParityRow row{.plan = plan_name(s), .control = std::string(plan.control)};
  try {
    resolve(s);
  } catch (const BadUse& refusal) {
    row.verdict = ParityVerdict::refused;
    row.why = refusal.what();
    return row;
  }
  try {
    const TrainingOutcome outcome = run(s, plan.fault);
    const Checks gates = training_gates("f32", s, outcome);
    row.figures = figures_of(outcome);
    if (plan.control.empty()) {
      row.verdict = all_hold(gates) ? ParityVerdict::pass : ParityVerdict::fail;
      row.why = broken_gates(gates);
      gates_.insert_or_assign(row.plan, gates);
    } else {
      const Check control = judge_control(plan.control, gates, gates_without_fault(s));
      const bool caught = control.verdict == CheckVerdict::pass;
      row.verdict = caught ? ParityVerdict::caught : ParityVerdict::missed;
      row.why = control.note;
    }
  } catch (const PeerLost&) {
    throw;
  } catch (...) {
    // A plan that the planner accepts must run.
    row.verdict = ParityVerdict::fail;
    row.why = failure_of(std::current_exception()).text;
  }
  return row;
}

}  // namespace ringside
