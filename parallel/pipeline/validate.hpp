// Whether a schedule can run, said before anything is started.
#pragma once

#include <optional>

#include "parallel/pipeline/schedule.hpp"

namespace ringside {

struct ScheduleLimits {
  // Activations that a device may hold at once, freed at W (in_flight.hpp).
  std::optional<int> in_flight{};
};

// Throws BadUse that names the rule, the actions and the devices, unless
// - every stage runs every micro-batch once: one F, and one B or one I and one W, all on one
// device;
// - each device does them in the order F, I, W (or F, B), and has something to do;
// - an F that is computed together with the next action has a B or I of another stage or
// micro-batch
//   behind it;
// - no device holds more than the limit;
// - nothing waits for itself: the cycle is shown. Among the waits is that of the executor for its
//   gradient sends, of which one may be open for each peer and stage: a device goes on after a
//   gradient is computed only when the peer has begun to take the one before it.
void require_valid(const Schedule& schedule, const ScheduleLimits& limits = {});

}  // namespace ringside
