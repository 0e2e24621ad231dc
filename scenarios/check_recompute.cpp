// Recomputation: the bits of a run that keeps everything, less memory, more time.
#include <spdlog/fmt/fmt.h>

#include "scenarios/checks.hpp"
#include "scenarios/model_settings.hpp"
#include "scenarios/outcome_figures.hpp"

namespace ringside {

namespace {

std::string bits_seen(const TrainingOutcome& a, const TrainingOutcome& b) {
  for (std::size_t r = 0; r < a.ranks.size(); ++r) {
    for (std::size_t step = 0; step < a.ranks[r].size(); ++step) {
      if (a.ranks[r][step].gradient_hash != b.ranks[r][step].gradient_hash ||
          a.ranks[r][step].parameter_hash != b.ranks[r][step].parameter_hash) {
        return fmt::format("rank {} differs at step {}", r, step + 1);
      }
    }
  }
  return "equal";
}

// Bits that must differ: of a run that begins with other weights.
Check other_seed(const CheckContext& context, const TrainingOutcome& kept) {
  Settings other = context.settings;
  other.train.seed = context.settings.train.seed == 1 ? 2 : 1;
  const std::string seen = bits_seen(context.run(other, context.truth), kept);
  Check check = holds("control.recompute_other_seed", seen != "equal", seen, "other bits",
                      "the same comparison, of a run with another seed");
  check.control = true;
  return check;
}

}  // namespace

Checks check_recompute(const CheckContext& context) {
  const Settings& s = context.settings;
  if (at_true_scale(s)) {
    return check_recompute_at_true_scale(context);
  }
  if (s.parallel.recompute == "none") {
    return {{.name = "recompute.bits",
             .measured = "parallel.recompute = none",
             .gate = "selective or full",
             .verdict = CheckVerdict::not_applicable}};
  }
  Settings keeps = s;
  keeps.parallel.recompute = "none";
  const TrainingOutcome kept = context.run(keeps, context.truth);
  const std::string seen = bits_seen(context.main, kept);
  const std::int64_t here = peak_activations(context.main);
  const std::int64_t there = peak_activations(kept);
  const Time longer = forward_and_backward(context.main);
  const Time shorter = forward_and_backward(kept);
  return {
      holds("recompute.bits", seen == "equal", seen, "equal, every bit",
            "gradients and parameters of every rank and step, beside a run that keeps everything"),
      beside("recompute.activations", here, Than::less, there, " bytes",
             "the peak of the rank with most; the other figure keeps everything"),
      beside("recompute.time", longer, Than::more, shorter, "",
             "modelled, forward and backward of the last step: what is computed again is "
             "charged again"),
      other_seed(context, kept)};
}

}  // namespace ringside
