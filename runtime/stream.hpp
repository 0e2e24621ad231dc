// A stream: modelled work in program order, like a CUDA stream. Its `now` is when the last
// operation launched on it ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/units.hpp"

namespace ringside {

struct Stream {
  std::size_t index = 0;  // 0 is compute, the stream of the program itself
  std::string name = "compute";
  Time now{0};
  std::uint64_t launches = 0;

  void advance_to(Time t) {
    if (t > now) {
      now = t;
    }
  }
};

}  // namespace ringside
