#include "scenarios/bits_check.hpp"

#include <spdlog/fmt/fmt.h>

#include "scenarios/not_finite.hpp"

namespace ringside {

std::optional<OtherBits> first_other_bits(const TrainingOutcome& outcome,
                                          const SameBits& same_gradients,
                                          const SameBits& same_parameters) {
  for (std::size_t step = 0; step < outcome.ranks.front().size(); ++step) {
    for (std::size_t rank = 0; rank < outcome.ranks.size(); ++rank) {
      const bool gradients = same_gradients(rank, step);
      if (!gradients || !same_parameters(rank, step)) {
        return OtherBits{rank, step, !gradients};
      }
    }
  }
  return std::nullopt;
}

Check bits_check(std::string name, const std::optional<OtherBits>& found,
                 const TrainingOutcome& outcome, std::string gate, std::string note) {
  const std::string seen =
      found ? fmt::format("rank {} differs at step {}", found->rank, found->step + 1) : "equal";
  const auto infinite = found ? std::nullopt : first_not_finite(outcome);
  Check check = holds(std::move(name), !found && !infinite, seen_finite(seen, outcome),
                      std::move(gate), std::move(note));
  if (found) {
    const StepOutcome& s = outcome.ranks[found->rank][found->step];
    check.worst = worst_at(found->gradients ? "gradient" : "parameter",
                           found->gradients ? s.worst_gradient : s.worst_parameter,
                           static_cast<int>(found->rank), static_cast<int>(found->step) + 1);
    check.worst->cause = "other bits than they must be: " + check.gate;
  } else {
    check.worst = infinite;
  }
  return check;
}

}  // namespace ringside
