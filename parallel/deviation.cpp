#include "parallel/deviation.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "runtime/errors.hpp"

namespace ringside {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

// Distance from |x| to the next larger number of the type.
double unit_in_last_place(double x, DType dtype) {
  if (dtype == DType::f64) {
    return std::nextafter(std::abs(x), infinite) - std::abs(x);
  }
  const auto f = static_cast<float>(std::abs(x));
  return static_cast<double>(std::nextafter(f, std::numeric_limits<float>::infinity())) -
         static_cast<double>(f);
}

double distance(double a, double b) {
  if (std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) || a == b) {
    return 0;
  }
  const double d = std::abs(a - b);
  return std::isfinite(d) ? d : infinite;
}

}  // namespace

Deviation deviation(const TensorValues& reference, const TensorValues& run, DType dtype) {
  if (reference.size() != run.size()) {
    throw BadUse("cannot compare " + std::to_string(run.size()) + " tensors with " +
                 std::to_string(reference.size()));
  }
  Deviation result;
  double largest = 0;
  for (std::size_t t = 0; t < reference.size(); ++t) {
    if (reference[t].size() != run[t].size()) {
      throw BadUse("tensor " + std::to_string(t) + ": cannot compare " +
                   std::to_string(run[t].size()) + " elements with " +
                   std::to_string(reference[t].size()));
    }
    double worst = 0;
    double largest_here = 0;
    for (std::size_t i = 0; i < reference[t].size(); ++i) {
      const double a = reference[t][i];
      const double b = run[t][i];
      const double d = distance(a, b);
      worst = std::max(worst, d);
      largest_here = std::max(largest_here, std::abs(a));
      result.bit_equal &=
          !std::isnan(a) && std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
    }
    result.absolute = std::max(result.absolute, worst);
    result.ulps =
        std::max(result.ulps, worst == 0 ? 0 : worst / unit_in_last_place(largest_here, dtype));
    result.worst_tensor = std::max(result.worst_tensor, worst == 0 ? 0 : worst / largest_here);
    largest = std::max(largest, largest_here);
  }
  result.of_largest = result.absolute == 0 ? 0 : result.absolute / largest;
  return result;
}

double relative(double reference, double run) {
  const double d = distance(reference, run);
  return d == 0 ? 0 : d / std::abs(reference);
}

}  // namespace ringside
