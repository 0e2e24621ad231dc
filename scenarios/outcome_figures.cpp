#include "scenarios/outcome_figures.hpp"

#include <algorithm>

namespace ringside {

std::int64_t peak_activations(const TrainingOutcome& outcome) {
  std::int64_t most = 0;
  for (const auto& rank : outcome.job.ranks) {
    most = std::max(most, rank.report.memory.peak[static_cast<std::size_t>(Category::activations)]);
  }
  return most;
}

Time forward_and_backward(const TrainingOutcome& outcome) {
  Time longest{0};
  for (const auto& rank : outcome.ranks) {
    longest = std::max(longest, rank.back().backward_end - rank.back().start);
  }
  return longest;
}

}  // namespace ringside
