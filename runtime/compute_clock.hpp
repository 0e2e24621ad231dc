// Charges computation to the compute stream. Passive: a model charges its floating-point
// operations here and knows nothing of ranks; a single process uses one that nobody watches.
#pragma once

#include <functional>
#include <string_view>

#include "runtime/stream.hpp"
#include "runtime/units.hpp"

namespace ringside {

class ComputeClock {
 public:
  explicit ComputeClock(Rate flops = {}) : flops_(flops) {}

  // `flops` floating-point operations at the GPU's effective rate.
  void charge_flops(std::int64_t flops, std::string_view label) {
    charge(time_for(flops, flops_), label);
  }

  void charge(Time duration, std::string_view label);

  Stream& stream() { return stream_; }

  // Called after each charge with the label, start and end (traces, pace).
  std::function<void(std::string_view label, Time start, Time end)> on_charge;

 private:
  Rate flops_;
  Stream stream_;
};

}  // namespace ringside
