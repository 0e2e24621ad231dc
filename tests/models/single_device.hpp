// What a layer needs to run alone, and tensors with known elements.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "models/layer.hpp"
#include "models/random.hpp"

namespace ringside {

struct SingleDevice {
  DeviceMemory memory{std::size_t{64} << 20};
  ComputeClock clock{Rate{1'000'000'000'000}};  // one operation, one picosecond
  Device device{memory, clock};
  std::vector<std::pair<std::string, std::int64_t>> charges{};  // label, operations

  SingleDevice() {
    clock.on_charge = [this](std::string_view label, Time start, Time end) {
      charges.emplace_back(label, (end - start).count());
    };
  }

  template <class T>
  Tensor tensor(std::vector<std::size_t> shape, std::uint64_t seed, const std::string& name = "") {
    Tensor made(memory, dtype_of<T>(), std::move(shape), Category::activations, name);
    for (T& element : made.as<T>()) {
      element = static_cast<T>(uniform(mix(seed++)));
    }
    return made;
  }

  std::int64_t held(Category category) const {
    return memory.ledger().current[static_cast<std::size_t>(category)];
  }

  std::int64_t peak(Category category) const {
    return memory.ledger().peak[static_cast<std::size_t>(category)];
  }
};

template <class T>
std::vector<T> copy_of(const Tensor& tensor) {
  const auto elements = tensor.as<T>();
  return {elements.begin(), elements.end()};
}

inline double dot(const Tensor& a, const Tensor& b) {
  double sum = 0;
  const auto x = a.as<double>();
  const auto y = b.as<double>();
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum += x[i] * y[i];
  }
  return sum;
}

// The derivative of f by `element`, from both sides.
template <class F>
double derivative(double& element, F f) {
  constexpr double h = 1e-5;
  const double at = element;
  element = at + h;
  const double above = f();
  element = at - h;
  const double below = f();
  element = at;
  return (above - below) / (2 * h);
}

// The largest |a - b|, over the largest |a|.
template <class T>
double relative_difference(const std::vector<T>& a, const std::vector<T>& b) {
  double difference = 0;
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference = std::max(difference, std::abs(static_cast<double>(a[i] - b.at(i))));
    largest = std::max(largest, std::abs(static_cast<double>(a[i])));
  }
  return largest == 0 ? difference : difference / largest;
}

}  // namespace ringside
