#include "scenarios/divergence.hpp"

#include <algorithm>

#include "collectives/chunk.hpp"
#include "collectives/diagnosis.hpp"
#include "parallel/bracketing.hpp"

namespace ringside {

namespace {

constexpr int fewest_steps = 8;  // for the drift to be seen

Settings longer(Settings settings, const std::string& optimizer) {
  if (settings.train.optimizer != optimizer) {
    settings.train.optimizer = optimizer;
    settings.train.lr = optimizer == "adamw" ? 1e-3 : 0.1;
  }
  settings.train.steps = std::max(settings.train.steps, fewest_steps);
  return settings;
}

int gpus_per_node(const Settings& s) {
  return cluster_of(s).nodes(s.ranks) > 1 ? s.cluster.gpus_per_node : 0;
}

// What the all-reduce computes in that place, and why it is not what it should.
std::string cause_of(const DivergenceRequest& request, const Departure& at, std::size_t elements) {
  const Settings& s = request.settings;
  const CollectiveCall call{"all_reduce", elements, ReduceOp::sum, 0};
  const auto element = static_cast<std::size_t>(at.element);
  const SymbolicRun run =
      run_on_symbols({.run = all_reduce_call(s.collectives.all_reduce, request.planted),
                      .ranks = s.ranks,
                      .gpus_per_node = gpus_per_node(s),
                      .calls = {call},
                      .history = true,
                      .watched = {element}});
  if (run.failure) {
    return "on symbols it does not run to its end: " + *run.failure;
  }
  const Expressions expressions(run.tables);
  if (const auto d = diagnose(run, expressions, call, 0, at.rank, element, 0)) {
    return d->text();
  }
  const auto held = [&](int rank) {
    return expressions.text(run.calls[0][static_cast<std::size_t>(rank)].result[element], element);
  };
  for (int r = 0; r < s.ranks; ++r) {
    if (held(r) != held(at.rank)) {
      return "order: every part is in once, but rank " + std::to_string(at.rank) + " adds " +
             held(at.rank) + " and rank " + std::to_string(r) + " adds " + held(r);
    }
  }
  return "its expression " + held(at.rank) +
         " is right, and the run gives other numbers: memory was changed while it was in use";
}

std::optional<Departure> first_of(const TrainingOutcome& outcome) {
  for (std::size_t step = 0; step < outcome.ranks.front().size(); ++step) {
    for (std::size_t r = 0; r < outcome.ranks.size(); ++r) {
      const FirstDifference& first = outcome.ranks[r][step].first;
      if (first.bucket >= 0) {
        return Departure{.step = static_cast<int>(step) + 1,
                         .rank = static_cast<int>(r),
                         .bucket = first.bucket,
                         .element = first.element,
                         .run = first.run,
                         .definition = first.reference,
                         .elements = first.elements};
      }
    }
  }
  return std::nullopt;
}

Drift drift_of(const std::string& optimizer, const TrainingOutcome& outcome) {
  Drift drift{.optimizer = optimizer};
  for (std::size_t step = 0; step < outcome.ranks.front().size(); ++step) {
    const StepOutcome& first = outcome.ranks.front()[step];
    DriftStep row{.loss = first.loss, .definition = first.reference_loss};
    for (const auto& rank : outcome.ranks) {
      row.gradient = std::max(row.gradient, rank[step].gradients.absolute);
      row.parameters = std::max(row.parameters, rank[step].parameters.absolute);
    }
    drift.steps.push_back(row);
  }
  return drift;
}

}  // namespace

Divergence find_divergence(const DivergenceRequest& request) {
  Divergence divergence;
  for (const std::string optimizer : {"sgd", "adamw"}) {
    const Settings s = longer(request.settings, optimizer);
    const Reference definition{
        .steps = train_shards_in_turn(plan_of(s, request.text), shards_as_run(s, request.planted))};
    const auto outcome =
        run_training({.settings = s, .all_reduce = request.planted, .options = request.options},
                     request.text, definition);
    divergence.drifts.push_back(drift_of(optimizer, outcome));
    if (!divergence.first) {
      divergence.first = first_of(outcome);
    }
  }
  if (auto& first = divergence.first) {
    const auto padded =
        buckets_of(request.settings)[static_cast<std::size_t>(first->bucket)].padded;
    first->chunk =
        chunk_with(padded, request.settings.ranks, static_cast<std::size_t>(first->element));
    first->cause = cause_of(request, *first, padded);
  }
  return divergence;
}

}  // namespace ringside
