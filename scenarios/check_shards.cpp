// The chapter's own form of the test: one process runs the shards in turn and averages them.
#include <algorithm>
#include <cmath>

#include "parallel/shards_in_turn.hpp"
#include "scenarios/checks.hpp"

namespace ringside {

namespace {

// Whether all ranks end every step with the bits of the reference, or the first step that does not.
std::string bits_seen(const TrainingOutcome& outcome) {
  for (std::size_t step = 0; step < outcome.ranks.front().size(); ++step) {
    for (const auto& rank : outcome.ranks) {
      if (!rank[step].gradients.bit_equal || !rank[step].parameters.bit_equal) {
        return "other bits at step " + std::to_string(step + 1);
      }
    }
  }
  return "equal";
}

// How far the order of additions alone takes the gradients from those of the whole batch at once.
std::string ulps_text(const TrainingOutcome& outcome) {
  double most = 0;
  for (const auto& rank : outcome.ranks) {
    most = std::max(most, rank.front().gradients.ulps);
  }
  return std::to_string(std::lround(most)) + " ULPs";
}

// What one process that takes the ranks' shards in turn does not do; empty: it does it all.
std::string other_than_shards(const Settings& s) {
  const auto& p = s.parallel;
  for (const auto& [name, degree] :
       {std::pair{"tp", p.tp}, std::pair{"cp", p.cp}, std::pair{"pp", p.pp}}) {
    if (degree > 1) {
      return "parallel." + std::string(name) + " = " + std::to_string(degree);
    }
  }
  if (s.model.experts > 0) {
    return "model.experts = " + std::to_string(s.model.experts);
  }
  return s.model.batch_norm ? "model.batch_norm" : "";
}

}  // namespace

Checks check_shards(const CheckContext& context) {
  const Settings& s = context.settings;
  if (const std::string other = other_than_shards(s); !other.empty()) {
    return {{.name = "shards",
             .measured = other,
             .gate = "equal, every bit",
             .verdict = CheckVerdict::not_applicable,
             .note = "its ranks have more to do with each other than shards of a batch"}};
  }
  const Reference averaged{.steps = train_shards_in_turn(plan_of(s, context.text), shards_of(s))};
  Checks checks = training_gates("shards_averaged", s, context.run(s, averaged));
  if (reductions_of(s) > 1) {
    checks.push_back({.name = "shards_in_order.bits",
                      .measured = "order not known",
                      .gate = "equal, every bit",
                      .verdict = CheckVerdict::not_applicable,
                      .note = "one process knows the orders of reductions once a step"});
    return checks;
  }
  const Reference same_order{.steps =
                                 train_shards_in_turn(plan_of(s, context.text), shards_as_run(s))};
  const std::string seen = bits_seen(context.run(s, same_order));
  const std::string note = "added as the expressions of " + gradient_algorithm(s) + " say";
  const std::string order = "; that order is worth " + ulps_text(context.main);
  checks.push_back(holds("shards_in_order.bits", seen == "equal", seen, "equal, every bit",
                         note + (seen == "equal" ? order : "")));
  return checks;
}

namespace {

// Of gradients, all ranks: not of a checkpoint that the run may have gathered.
std::int64_t gradients_sent(const TrainingOutcome& outcome) {
  std::int64_t bytes = 0;
  for (const auto& rank : outcome.job.ranks) {
    for (const auto& sum : rank.report.sums) {
      bytes += std::string_view(sum.label).starts_with("grad.bucket.") ? sum.sent_bytes : 0;
    }
  }
  return bytes;
}

}  // namespace

Checks check_accumulation(const CheckContext& context) {
  if (context.settings.parallel.microbatches == 1) {
    return {{.name = "accumulation",
             .measured = "one micro-batch",
             .gate = "equal to one micro-batch",
             .verdict = CheckVerdict::not_applicable}};
  }
  Settings whole = context.settings;
  whole.parallel.microbatches = 1;
  const auto at_once = context.run(whole, context.truth);
  const int times = reductions_of(context.settings);
  Checks checks = training_gates("accumulation", context.settings, context.main);
  if (times == 1 && context.settings.parallel.zero < 3) {
    checks.push_back(equal("accumulation.bytes_sent", gradients_sent(context.main),
                           gradients_sent(at_once), "bytes",
                           std::to_string(context.settings.parallel.microbatches) +
                               " micro-batches, reduced once; of gradients"));
  }
  return checks;
}

}  // namespace ringside
