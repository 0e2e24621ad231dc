// What actions produce, numbered, and which of it each needs: a schedule's dependencies.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "parallel/pipeline/schedule.hpp"

namespace ringside {

// For each stage and micro-batch three events: the activation (of F), the gradient of the input
// (of B or I), and that of the weights (of W).
class Events {
 public:
  explicit Events(const Schedule& schedule)
      : stages_(schedule.stages), microbatches_(schedule.microbatches) {}

  std::size_t count() const { return 3 * per_kind(); }

  // What the action produces.
  std::size_t of(const Action& action) const;
  // What it waits for: F for F of the stage before; B and I for the gradient of the stage after,
  // or, on the last stage, for their own F; W for its own I. Nothing: F of stage 0.
  std::optional<std::size_t> needed_by(const Action& action) const;

 private:
  std::size_t per_kind() const {
    return static_cast<std::size_t>(stages_) * static_cast<std::size_t>(microbatches_);
  }

  int stages_;
  int microbatches_;
};

// The action at the front, with the one that it is computed together with.
std::span<const Action> first_unit(std::span<const Action> actions);

}  // namespace ringside
