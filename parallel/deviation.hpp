// How far one run's numbers are from another's: absolute, relative, in units in the last place.
#pragma once

#include <vector>

#include "runtime/dtype.hpp"

namespace ringside {

// A value for each element of each tensor, in f64 (which holds every f32 exactly).
using TensorValues = std::vector<std::vector<double>>;

struct Deviation {
  double absolute = 0;      // max |a - b|
  double of_largest = 0;    // that, over the largest |reference| of all tensors
  double worst_tensor = 0;  // the largest, over tensors, of max |a - b| / max |reference| in it
  double ulps =
      0;  // max, over tensors, of max |a - b| in units in the last place of max |reference|
  bool bit_equal = true;  // a NaN is equal to nothing
};

// Throws BadUse when the shapes differ. A NaN or infinity on one side only is an infinite
// deviation.
Deviation deviation(const TensorValues& reference, const TensorValues& run, DType dtype);

// |a - b| / |a|; 0 when both are equal.
double relative(double reference, double run);

}  // namespace ringside
