#include "parallel/pipeline/events.hpp"

#include <algorithm>

namespace ringside {

std::size_t Events::of(const Action& action) const {
  const std::size_t kind = action.kind == ActionKind::forward           ? 0
                           : action.kind == ActionKind::weight_gradient ? 2
                                                                        : 1;
  return kind * per_kind() +
         static_cast<std::size_t>(action.stage) * static_cast<std::size_t>(microbatches_) +
         static_cast<std::size_t>(action.microbatch);
}

std::optional<std::size_t> Events::needed_by(const Action& action) const {
  Action needed = action;
  if (action.kind == ActionKind::forward) {
    if (action.stage == 0) {
      return std::nullopt;
    }
    needed.stage -= 1;
  } else if (action.kind == ActionKind::weight_gradient) {
    needed.kind = ActionKind::input_gradient;
  } else if (action.stage + 1 < stages_) {
    needed.stage += 1;
  } else {
    needed.kind = ActionKind::forward;
  }
  return of(needed);
}

std::span<const Action> first_unit(std::span<const Action> actions) {
  const std::size_t length = actions.front().with_next ? 2 : 1;
  return actions.first(std::min(length, actions.size()));
}

}  // namespace ringside
