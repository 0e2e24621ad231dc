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

Time training_time(const TrainingOutcome& outcome) {
  Time longest{0};
  for (const auto& rank : outcome.ranks) {
    longest = std::max(longest, rank.back().end);
  }
  return longest;
}

Time forward_and_backward(const TrainingOutcome& outcome) {
  Time longest{0};
  for (const auto& rank : outcome.ranks) {
    longest = std::max(longest, rank.back().backward_end - rank.back().start);
  }
  return longest;
}

Time backward_time(const TrainingOutcome& outcome) {
  Time longest{0};
  for (const auto& rank : outcome.ranks) {
    longest = std::max(longest, rank.back().backward_end - rank.back().forward_end);
  }
  return longest;
}

Time exposed_time(const TrainingOutcome& outcome) {
  Time backward_end{0};
  Time gradients_ready{0};
  for (const auto& rank : outcome.ranks) {
    backward_end = std::max(backward_end, rank.back().backward_end);
    gradients_ready = std::max(gradients_ready, rank.back().gradients_ready);
  }
  return gradients_ready - backward_end;
}

}  // namespace ringside
