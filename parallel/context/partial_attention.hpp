// Attention over some of the keys that a query sees, so that it can be merged with what others give
// (Milakov and Gimelshein 2018, Online normalizer calculation for softmax; Liu et al. 2023, Ring
// Attention, section 3).
#pragma once

#include <cstddef>
#include <limits>
#include <span>

#include "models/elementary.hpp"

namespace ringside {

// Of one query and one head. Over no key: {-inf, 0, 0}, which changes nothing it is merged with.
template <class T>
struct PartialAttention {
  T maximum = -std::numeric_limits<T>::infinity();  // of the scores
  double sum = 0;                                   // of e^((score - maximum) scale)
  std::span<T> values{};                            // of that times v

  bool empty() const { return sum == 0; }
};

// Both become attention over the keys of both, in `into`. Exact where one is empty. Where neither
// is, the one with the smaller maximum is scaled by e^((its - the larger) scale), and `into` stands
// left in every addition.
template <class T>
void merge(PartialAttention<T>& into, const PartialAttention<T>& more, T scale) {
  if (more.empty()) {
    return;
  }
  const T maximum = into.empty() || more.maximum > into.maximum ? more.maximum : into.maximum;
  const auto factor = [&](const PartialAttention<T>& part) {
    return part.empty() ? 0.0 : exponential(static_cast<double>((part.maximum - maximum) * scale));
  };
  const double old = factor(into);
  const double added = factor(more);
  for (std::size_t i = 0; i < into.values.size(); ++i) {
    into.values[i] = into.values[i] * static_cast<T>(old) + more.values[i] * static_cast<T>(added);
  }
  into.sum = into.sum * old + more.sum * added;
  into.maximum = maximum;
}

}  // namespace ringside
