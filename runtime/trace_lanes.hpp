// Slices that overlap cannot share a thread of a trace: this deals them out to lanes.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/units.hpp"

namespace ringside {

class TraceLanes {
 public:
  // A viewer cannot show more; what overlaps further shares the last one.
  static constexpr std::size_t most = 16;

  // The first lane that is free at `start`; call in the order of the starts. Two slices that begin
  // in the same nanosecond never share a lane, or a viewer could not tell their flows apart.
  std::size_t place(Time start, Time end);

  std::size_t count() const { return lanes_.size(); }

 private:
  struct Slice {
    Time start;
    Time end;
  };

  std::vector<Slice> lanes_;  // the last slice of each
};

}  // namespace ringside
