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
  if (!std::isfinite(a) || !std::isfinite(b)) {
    return infinite;
  }
  return std::abs(a - b);
}

// Compares tensor after tensor.
class Comparison {
 public:
  explicit Comparison(DType dtype) : dtype_(dtype) {}

  void add(std::size_t t, const std::vector<double>& reference, const std::vector<double>& run);
  Deviation result() const;

 private:
  void see(const Element& at);

  DType dtype_;
  Deviation sum_{};
  Element not_finite_in_reference_{};
  double largest_ = 0;
};

void Comparison::see(const Element& at) {
  sum_.bit_equal &= !std::isnan(at.reference) && std::bit_cast<std::uint64_t>(at.reference) ==
                                                     std::bit_cast<std::uint64_t>(at.run);
  if (!std::isfinite(at.run) && sum_.not_finite.tensor < 0) {
    sum_.not_finite = at;
  }
  if (!std::isfinite(at.reference) && not_finite_in_reference_.tensor < 0) {
    not_finite_in_reference_ = at;
  }
}

void Comparison::add(std::size_t t, const std::vector<double>& reference,
                     const std::vector<double>& run) {
  double worst = 0;
  double largest = 0;
  Element there;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const Element at{static_cast<int>(t), i, reference[i], run[i]};
    see(at);
    const double d = distance(at.reference, at.run);
    if (d > worst) {
      worst = d;
      there = at;
    }
    largest = std::max(largest, std::abs(at.reference));
  }
  if (worst > sum_.absolute) {
    sum_.absolute = worst;
    sum_.worst = there;
  }
  const auto over = [&](double unit) {
    return worst == 0 ? 0 : std::isinf(worst) ? worst : worst / unit;
  };
  sum_.ulps = std::max(sum_.ulps, over(unit_in_last_place(largest, dtype_)));
  if (over(largest) > sum_.worst_tensor) {
    sum_.worst_tensor = over(largest);
    sum_.worst_in_its = there;
  }
  largest_ = std::max(largest_, largest);
}

Deviation Comparison::result() const {
  Deviation result = sum_;
  result.of_largest = std::isinf(sum_.absolute) ? infinite
                      : sum_.absolute == 0      ? 0
                                                : sum_.absolute / largest_;
  if (result.not_finite.tensor < 0) {
    result.not_finite = not_finite_in_reference_;
  }
  return result;
}

}  // namespace

Deviation deviation(const TensorValues& reference, const TensorValues& run, DType dtype) {
  if (reference.size() != run.size()) {
    throw BadUse("cannot compare " + std::to_string(run.size()) + " tensors with " +
                 std::to_string(reference.size()));
  }
  Comparison comparison(dtype);
  for (std::size_t t = 0; t < reference.size(); ++t) {
    if (reference[t].size() != run[t].size()) {
      throw BadUse("tensor " + std::to_string(t) + ": cannot compare " +
                   std::to_string(run[t].size()) + " elements with " +
                   std::to_string(reference[t].size()));
    }
    comparison.add(t, reference[t], run[t]);
  }
  return comparison.result();
}

double relative(double reference, double run) {
  const double d = distance(reference, run);
  return d == 0 ? 0 : std::isinf(d) ? infinite : d / std::abs(reference);
}

}  // namespace ringside
