#include "parallel/pipeline/in_flight.hpp"

#include <algorithm>

namespace ringside {

namespace {

int peak(const std::vector<Action>& actions, bool (*frees)(ActionKind)) {
  int held = 0;
  int most = 0;
  for (const Action& action : actions) {
    if (action.kind == ActionKind::forward) {
      most = std::max(most, ++held);
    } else if (frees(action.kind)) {
      --held;
    }
  }
  return most;
}

}  // namespace

PeakInFlight peak_in_flight(const Schedule& schedule) {
  PeakInFlight peaks;
  for (const auto& actions : schedule.devices) {
    peaks.freed_at_I.push_back(peak(actions, gives_input_gradient));
    peaks.freed_at_W.push_back(peak(actions, gives_weight_gradient));
  }
  return peaks;
}

}  // namespace ringside
