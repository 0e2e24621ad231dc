// Activations that a device holds while a schedule runs: of a stage and micro-batch from its F on.
#pragma once

#include <vector>

#include "parallel/pipeline/schedule.hpp"

namespace ringside {

// The most at once, by device, counted in activations of one stage (when interleaved, of one
// chunk). They follow from a device's order alone.
struct PeakInFlight {
  std::vector<int> freed_at_I;  // let go by B or I
  std::vector<int> freed_at_W;  // let go by B or W: what an executor that splits backward holds

  bool operator==(const PeakInFlight&) const = default;
};

PeakInFlight peak_in_flight(const Schedule& schedule);

}  // namespace ringside
