// How far one run's numbers are from another's: absolute, relative, in units in the last place; and
// where.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/dtype.hpp"

namespace ringside {

// A value for each element of each tensor, in f64 (which holds every f32 exactly).
using TensorValues = std::vector<std::vector<double>>;

// One element, and what both have there.
struct Element {
  int tensor = -1;  // -1: there is none
  std::uint64_t index = 0;
  double reference = 0;
  double run = 0;
};

struct Deviation {
  double absolute = 0;      // max |a - b|
  double of_largest = 0;    // that, over the largest |reference| of all tensors
  double worst_tensor = 0;  // the largest, over tensors, of max |a - b| / max |reference| in it
  double ulps =
      0;  // max, over tensors, of max |a - b| in units in the last place of max |reference|
  bool bit_equal = true;   // a NaN is equal to nothing
  Element worst{};         // where |a - b| is largest; the first of equals
  Element worst_in_its{};  // the same, within the tensor of `worst_tensor`
  Element not_finite{};    // the first that is infinite or no number in the run, or else in the
                           // reference
};

// Throws BadUse when the shapes differ. What is infinite or no number is infinitely far from
// everything, itself too.
Deviation deviation(const TensorValues& reference, const TensorValues& run, DType dtype);

// |a - b| / |a|; 0 when both are equal, and infinite when one is not finite.
double relative(double reference, double run);

}  // namespace ringside
