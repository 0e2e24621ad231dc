#include "runtime/compute_clock.hpp"

namespace ringside {

void ComputeClock::charge(Time duration, std::string_view label) {
  const Time start = stream_.now;
  stream_.now = add(start, duration);
  if (on_charge) {
    on_charge(label, start, stream_.now);
  }
}

}  // namespace ringside
