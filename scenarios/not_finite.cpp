#include "scenarios/not_finite.hpp"

#include <spdlog/fmt/fmt.h>

#include <cmath>

namespace ringside {

namespace {

bool thrown_away(const StepOutcome& s) {
  return s.skipped && s.reference_skipped && std::isfinite(s.loss) &&
         std::isfinite(s.reference_loss);
}

// Of a number that is no tensor's.
Spot number(double run, double reference) {
  Spot spot;
  spot.run = run;
  spot.reference = reference;
  return spot;
}

struct Found {
  std::string what;
  Spot spot;
};

// What a rank's step has that is not finite, by how early it is made.
std::optional<Found> in_step(const StepOutcome& s, int order) {
  const auto tensor = [](const char* what, const Spot& spot, bool counts) {
    return spot.there() && counts ? std::optional(Found{what, spot}) : std::nullopt;
  };
  switch (order) {
    case 0:
      return tensor("weight", s.weight_not_finite, true);
    case 1:
      return tensor("the rank's own gradient", s.own_gradient_not_finite, !thrown_away(s));
    case 2:
      return std::isfinite(s.loss) ? std::nullopt
                                   : std::optional(Found{"loss", number(s.loss, s.reference_loss)});
    case 3:
      return tensor("gradient", s.gradient_not_finite, !thrown_away(s));
    case 4:
      return std::isfinite(s.gradient_norm)
                 ? std::nullopt
                 : std::optional(Found{"gradient norm", number(s.gradient_norm, s.reference_norm)});
    default:
      return tensor("parameter", s.parameter_not_finite, true);
  }
}

bool reference_is_finite(const StepOutcome& s) {
  const auto finite = [](const Spot& spot) {
    return !spot.there() || std::isfinite(spot.reference);
  };
  return std::isfinite(s.reference_loss) && std::isfinite(s.reference_norm) &&
         finite(s.gradient_not_finite) && finite(s.parameter_not_finite);
}

Worst worst_of(const Found& found, const StepOutcome& s, std::size_t rank, std::size_t step) {
  const bool at_start = found.what == "weight";
  Worst worst = worst_at(found.what, found.spot, static_cast<int>(rank),
                         at_start ? 0 : static_cast<int>(step) + 1);
  if (found.what == "the rank's own gradient" || at_start) {
    worst.reference = std::nullopt;  // one process adds all samples at once
  }
  worst.cause = !reference_is_finite(s)
                    ? "one process is not finite there either: training itself diverged, whatever "
                      "the ranks do"
                    : "in one process it is finite";
  return worst;
}

}  // namespace

std::optional<Worst> first_not_finite(const TrainingOutcome& outcome) {
  constexpr int orders = 6;
  const std::size_t steps = outcome.ranks.empty() ? 0 : outcome.ranks.front().size();
  for (std::size_t step = 0; step < steps; ++step) {
    for (int order = 0; order < orders; ++order) {
      for (std::size_t rank = 0; rank < outcome.ranks.size(); ++rank) {
        const StepOutcome& s = outcome.ranks[rank][step];
        if (const auto found = in_step(s, order)) {
          return worst_of(*found, s, rank, step);
        }
      }
    }
  }
  return std::nullopt;
}

Checks finite_gate(const std::string& prefix, const TrainingOutcome& outcome) {
  const auto found = first_not_finite(outcome);
  if (!found) {
    return {};
  }
  return {{.name = prefix + ".finite",
           .measured = fmt::format("{}", found->run.value_or(0)),
           .gate = "finite",
           .verdict = CheckVerdict::fail,
           .note = sentence(*found),
           .worst = found}};
}

std::string seen_finite(const std::string& seen, const TrainingOutcome& outcome) {
  const auto found = seen == "equal" ? first_not_finite(outcome) : std::nullopt;
  return found
             ? fmt::format("not finite on rank {} at step {}", found->rank, found->step.value_or(0))
             : seen;
}

}  // namespace ringside
