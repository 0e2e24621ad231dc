#include "scenarios/figure_experiments.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "models/elementary.hpp"
#include "models/random.hpp"

namespace ringside {

namespace {

template <class T, std::size_t Rows, std::size_t Cols>
using Table = std::array<std::array<T, Cols>, Rows>;

template <class T, std::size_t Rows, std::size_t Cols>
Table<T, Rows, Cols> random_table(std::uint64_t seed, std::string_view name) {
  Table<T, Rows, Cols> table;
  std::uint64_t bits = mix(seed, name);
  for (auto& row : table) {
    for (T& element : row) {
      element = static_cast<T>(uniform(bits = mix(bits)));
    }
  }
  return table;
}

// Columns [first, last) of the sum over k in a product.
template <std::size_t N, std::size_t K, std::size_t M>
Table<double, N, M> product(const Table<double, N, K>& a, const Table<double, K, M>& b,
                            std::size_t first = 0, std::size_t last = K) {
  Table<double, N, M> c{};
  for (std::size_t i = 0; i < N; ++i) {
    for (std::size_t j = 0; j < M; ++j) {
      for (std::size_t k = first; k < last; ++k) {
        c[i][j] += a[i][k] * b[k][j];
      }
    }
  }
  return c;
}

// Hendrycks and Gimpel 2016, section 2: the approximation by tanh.
double gelu(double x) {
  constexpr double scale = 0.7978845608028654;  // sqrt(2 / pi)
  return 0.5 * x * (1 + hyperbolic_tangent(scale * (x + 0.044715 * x * x * x)));
}

template <std::size_t N, std::size_t M>
Table<double, N, M> gelu(Table<double, N, M> table) {
  for (auto& row : table) {
    for (double& element : row) {
      element = gelu(element);
    }
  }
  return table;
}

template <std::size_t N, std::size_t M>
Table<double, N, M> sum(Table<double, N, M> a, const Table<double, N, M>& b) {
  for (std::size_t i = 0; i < N; ++i) {
    for (std::size_t j = 0; j < M; ++j) {
      a[i][j] += b[i][j];
    }
  }
  return a;
}

template <std::size_t N, std::size_t M>
double largest_difference(const Table<double, N, M>& a, const Table<double, N, M>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < N; ++i) {
    for (std::size_t j = 0; j < M; ++j) {
      largest = std::max(largest, std::abs(a[i][j] - b[i][j]));
    }
  }
  return largest;
}

constexpr std::size_t tokens = 5, width = 4, inner = 8;

struct MlpWeights {
  explicit MlpWeights(std::uint64_t seed)
      : x(random_table<double, tokens, width>(seed, "x")),
        a(random_table<double, width, inner>(seed, "a")),
        b(random_table<double, inner, width>(seed, "b")) {}

  Table<double, tokens, width> undivided() const { return product(gelu(product(x, a)), b); }

  Table<double, tokens, width> x;
  Table<double, width, inner> a;
  Table<double, inner, width> b;
};

constexpr std::size_t weights = 16, samples = 64, shards = 8;

// Of samples [first, first + count), the mean.
std::array<float, weights> gradient(const Table<float, samples, weights>& inputs,
                                    const std::array<float, samples>& targets,
                                    const std::array<float, weights>& w, std::size_t first,
                                    std::size_t count) {
  std::array<float, weights> mean{};
  for (std::size_t s = first; s < first + count; ++s) {
    float error = -targets[s];
    for (std::size_t i = 0; i < weights; ++i) {
      error += w[i] * inputs[s][i];
    }
    for (std::size_t i = 0; i < weights; ++i) {
      mean[i] += error * inputs[s][i];
    }
  }
  for (float& element : mean) {
    element /= static_cast<float>(count);
  }
  return mean;
}

}  // namespace

double shard_mean_difference(std::uint64_t seed) {
  const auto inputs = random_table<float, samples, weights>(seed, "inputs");
  const auto targets = random_table<float, 1, samples>(seed, "targets")[0];
  const auto w = random_table<float, 1, weights>(seed, "weights")[0];
  const auto whole = gradient(inputs, targets, w, 0, samples);
  std::array<float, weights> mean{};
  for (std::size_t r = 0; r < shards; ++r) {
    const auto part = gradient(inputs, targets, w, r * samples / shards, samples / shards);
    for (std::size_t i = 0; i < weights; ++i) {
      mean[i] += part[i] / shards;
    }
  }
  double largest = 0;
  for (std::size_t i = 0; i < weights; ++i) {
    largest =
        std::max(largest, std::abs(static_cast<double>(mean[i]) - static_cast<double>(whole[i])));
  }
  return largest;
}

// A rank's columns of A are its rows of B: the contraction over half of the inner width.
double column_row_difference(std::uint64_t seed) {
  const MlpWeights mlp(seed);
  const auto hidden = gelu(product(mlp.x, mlp.a));
  const auto first = product(hidden, mlp.b, 0, inner / 2);
  const auto second = product(hidden, mlp.b, inner / 2, inner);
  return largest_difference(sum(first, second), mlp.undivided());
}

double row_first_difference(std::uint64_t seed) {
  const MlpWeights mlp(seed);
  const auto first = gelu(product(mlp.x, mlp.a, 0, width / 2));
  const auto second = gelu(product(mlp.x, mlp.a, width / 2, width));
  return largest_difference(product(sum(first, second), mlp.b), mlp.undivided());
}

}  // namespace ringside
