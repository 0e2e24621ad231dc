// Recomputation of a published model: what the ledger holds of activations, by what it belongs to.
#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "scenarios/activation_formula.hpp"
#include "scenarios/checks.hpp"
#include "scenarios/outcome_figures.hpp"

namespace ringside {

namespace {

std::int64_t most(const TrainingOutcome& outcome, std::int64_t StepOutcome::*bytes) {
  std::int64_t most = 0;
  for (const auto& rank : outcome.ranks) {
    most = std::max(most, rank.back().*bytes);
  }
  return most;
}

// All that the rank with most held at its worst moment, beside the memory of a card.
Check check_card(const CheckContext& context) {
  std::int64_t peak = 0;
  for (const auto& rank : context.main.job.ranks) {
    peak = std::max(peak, rank.report.memory.total_peak);
  }
  const std::int64_t card = context.settings.cluster.capacity->count;
  return holds("recompute.fits_the_card", peak <= card, std::to_string(peak),
               fmt::format("<= {} bytes", card), "the peak of all categories together");
}

}  // namespace

Checks activation_gates(const Settings& s, const TrainingOutcome& outcome) {
  if (s.parallel.tp > 1) {
    return {};
  }
  const ActivationFormula formula = activation_formula(s);
  const bool full = s.parallel.recompute == "full";
  return {equal("recompute.layer_inputs", most(outcome, &StepOutcome::kept_of_blocks),
                formula.blocks, "bytes",
                fmt::format("{} a layer: what backward of the blocks gives back; of this and the "
                            "following the rank with most, category activations",
                            full ? "2 s b h" : "4 s b h")),
          equal("recompute.in_flight", most(outcome, &StepOutcome::in_flight_of_blocks),
                formula.in_flight, "bytes",
                full ? "more in backward of a block: its MLP's input again, two gradients"
                     : "more in backward of a block: a gradient"),
          equal("recompute.activations_peak", peak_activations(outcome), formula.peak(), "bytes",
                fmt::format("at the loss: layer inputs {}, inputs of vision tower, prediction, "
                            "final norm and head {}, logits and their gradient {}, tokens {}",
                            formula.blocks, formula.others, formula.logits, formula.tokens))};
}

Checks check_recompute_at_true_scale(const CheckContext& context) {
  const Settings& s = context.settings;
  if (s.parallel.tp > 1) {
    return {{.name = "recompute.layer_inputs",
             .measured = fmt::format("parallel.tp = {}", s.parallel.tp),
             .gate = "formula: of whole layers",
             .verdict = CheckVerdict::not_applicable}};
  }
  Checks checks = activation_gates(s, context.main);
  if (s.cluster.capacity) {
    checks.push_back(check_card(context));
  }
  if (s.parallel.recompute == "none") {
    return checks;
  }
  Settings keeps = s;
  keeps.parallel.recompute = "none";
  keeps.cluster.capacity.reset();
  const TrainingOutcome kept = context.run(keeps, context.truth);
  const std::int64_t here = peak_activations(context.main);
  const std::int64_t there = peak_activations(kept);
  const Time longer = forward_and_backward(context.main);
  const Time shorter = forward_and_backward(kept);
  checks.push_back(beside("recompute.activations", here, Than::less, there, " bytes",
                          "the peak; the other figure is without recompute"));
  checks.push_back(beside("recompute.time", longer, Than::more, shorter, "",
                          "modelled, forward and backward of the last step: forward of the blocks "
                          "is charged again"));
  return checks;
}

}  // namespace ringside
