// Recomputation: the bits of a run that keeps everything, less memory, more time.
#include <spdlog/fmt/fmt.h>

#include "scenarios/bits_check.hpp"
#include "scenarios/checks.hpp"
#include "scenarios/model_settings.hpp"
#include "scenarios/outcome_figures.hpp"

namespace ringside {

namespace {

std::optional<OtherBits> other_bits(const TrainingOutcome& a, const TrainingOutcome& b) {
  return first_other_bits(
      a,
      [&](std::size_t r, std::size_t s) {
        return a.ranks[r][s].gradient_hash == b.ranks[r][s].gradient_hash;
      },
      [&](std::size_t r, std::size_t s) {
        return a.ranks[r][s].parameter_hash == b.ranks[r][s].parameter_hash;
      });
}

// Bits that must differ: of a run that begins with other weights.
Check other_seed(const CheckContext& context, const TrainingOutcome& kept) {
  Settings other = context.settings;
  other.train.seed = context.settings.train.seed == 1 ? 2 : 1;
  const auto found = other_bits(context.run(other, context.truth), kept);
  Check check = holds(
      "control.recompute_other_seed", found.has_value(),
      found ? fmt::format("rank {} differs at step {}", found->rank, found->step + 1) : "equal",
      "other bits", "the same comparison, of a run with another seed");
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
  const std::int64_t here = peak_activations(context.main);
  const std::int64_t there = peak_activations(kept);
  const Time longer = forward_and_backward(context.main);
  const Time shorter = forward_and_backward(kept);
  return {
      bits_check(
          "recompute.bits", other_bits(context.main, kept), context.main, "equal, every bit",
          "gradients and parameters of every rank and step, beside a run that keeps everything"),
      beside("recompute.activations", here, Than::less, there, " bytes",
             "the peak of the rank with most; the other figure keeps everything"),
      beside("recompute.time", longer, Than::more, shorter, "",
             "modelled, forward and backward of the last step: what is computed again is "
             "charged again"),
      other_seed(context, kept)};
}

}  // namespace ringside
