#include "models/rotary.hpp"

#include <algorithm>
#include <vector>

#include "models/elementary.hpp"
#include "models/trigonometry.hpp"

namespace ringside {

namespace {

// Of every position up to the last and every pair: [position][pair].
std::vector<SineCosine> turns(std::span<const std::int32_t> positions, std::size_t pairs,
                              double base) {
  const std::int32_t last = *std::max_element(positions.begin(), positions.end());
  std::vector<double> frequencies;
  for (std::size_t i = 0; i < pairs; ++i) {
    frequencies.push_back(
        exponential(-static_cast<double>(i) / static_cast<double>(pairs) * logarithm(base)));
  }
  std::vector<SineCosine> table;
  for (std::int32_t position = 0; position <= last; ++position) {
    for (const double frequency : frequencies) {
      table.push_back(sine_cosine(position * frequency));
    }
  }
  return table;
}

template <class T>
void turn_head(std::span<T> head, std::span<const SineCosine> by, Turn turn) {
  for (std::size_t i = 0; i < by.size(); ++i) {
    T& a = head[i];
    T& b = head[i + by.size()];
    const T cosine = static_cast<T>(by[i].cosine);
    const T sine = static_cast<T>(turn == Turn::forward ? by[i].sine : -by[i].sine);
    const T turned = a * cosine - b * sine;
    b = b * cosine + a * sine;
    a = turned;
  }
}

}  // namespace

template <class T>
void rotate(const Tensor& x, std::size_t head_dim, std::span<const std::int32_t> positions,
            double base, Turn turn) {
  if (positions.empty() || x.meta()) {
    return;
  }
  const std::size_t pairs = head_dim / 2;
  const auto table = turns(positions, pairs, base);
  const std::span<T> elements = x.as<T>();
  const std::size_t width = x.shape().back();
  for (std::size_t row = 0; row < positions.size(); ++row) {
    const auto by =
        std::span(table).subspan(static_cast<std::size_t>(positions[row]) * pairs, pairs);
    for (std::size_t head = 0; head < width; head += head_dim) {
      turn_head(elements.subspan(row * width + head, head_dim), by, turn);
    }
  }
}

template void rotate<float>(const Tensor&, std::size_t, std::span<const std::int32_t>, double,
                            Turn);
template void rotate<double>(const Tensor&, std::size_t, std::span<const std::int32_t>, double,
                             Turn);

}  // namespace ringside
