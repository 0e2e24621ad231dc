#include "parallel/misplaced.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace ringside {

namespace {

constexpr std::size_t row = 4;      // numbers that must be the same
constexpr double closeness = 1e-5;  // of the largest: another order of additions is no difference

double tolerance_of(std::span<const double> numbers) {
  double largest = 0;
  for (const double x : numbers) {
    largest = std::max(largest, std::abs(x));
  }
  return closeness * largest;
}

bool same(std::span<const double> a, std::span<const double> b, double tolerance) {
  return std::ranges::equal(a, b, [=](double x, double y) { return std::abs(x - y) <= tolerance; });
}

// Zeros, and what is all equal, stand in many places.
bool telling(std::span<const double> numbers) {
  const double tolerance = tolerance_of(numbers);
  return std::ranges::all_of(numbers, [](double x) { return x != 0 && std::isfinite(x); }) &&
         !std::ranges::all_of(numbers,
                              [&](double x) { return std::abs(x - numbers.front()) <= tolerance; });
}

std::optional<Element> find(const TensorValues& reference, std::span<const double> numbers,
                            const Element& first) {
  const double tolerance = tolerance_of(numbers);
  for (std::size_t t = 0; t < reference.size(); ++t) {
    const std::span<const double> all = reference[t];
    for (std::size_t i = 0; i + row <= all.size(); ++i) {
      const bool elsewhere = static_cast<int>(t) != first.tensor || i != first.index;
      if (elsewhere && same(all.subspan(i, row), numbers, tolerance)) {
        return Element{static_cast<int>(t), i, all[i], numbers.front()};
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Element> found_elsewhere(const TensorValues& reference, const TensorValues& run,
                                       const Element& at) {
  if (at.tensor < 0) {
    return std::nullopt;
  }
  const std::span<const double> tensor = run[static_cast<std::size_t>(at.tensor)];
  // The row begins with the element, or ends with it: a misplaced piece may begin or end there.
  for (const std::size_t before : {std::size_t{0}, row - 1}) {
    if (at.index < before || at.index - before + row > tensor.size()) {
      continue;
    }
    const auto numbers = tensor.subspan(at.index - before, row);
    const Element first{at.tensor, at.index - before, 0, 0};
    if (!telling(numbers)) {
      continue;
    }
    if (auto found = find(reference, numbers, first)) {
      found->index += before;
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace ringside
