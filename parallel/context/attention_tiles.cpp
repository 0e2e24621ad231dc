#include "parallel/context/attention_tiles.hpp"

#include <algorithm>
#include <cmath>

#include "parallel/context/partial_attention.hpp"

namespace ringside {

std::vector<Tile> tiles(const TokenBlocks& blocks, std::span<const std::size_t> lengths,
                        int of_queries, int of_keys, Mask mask) {
  std::vector<Tile> all;
  std::size_t sample = 0;
  for (const std::size_t length : lengths) {
    Tile tile{.query_row = sample};
    for (const TokenBlock& queries : blocks.of(length, of_queries)) {
      tile.queries = queries.tokens;
      tile.key_row = sample;
      for (const TokenBlock& keys : blocks.of(length, of_keys)) {
        tile.keys = keys.tokens;
        tile.diagonal = mask == Mask::causal && keys.first == queries.first;
        const bool seen = mask == Mask::full || keys.first <= queries.first;
        if (tile.queries > 0 && tile.keys > 0 && seen) {
          all.push_back(tile);
        }
        tile.key_row += keys.rows;
      }
      tile.query_row += queries.rows;
    }
    sample += blocks.rows(length);
  }
  return all;
}

namespace {

template <class T>
using Scores = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class T>
T scale_of(const Heads& heads) {
  return T(1) / std::sqrt(static_cast<T>(heads.dim));
}

BlockPlace query_place(const Tile& tile, const Heads& heads, std::size_t head) {
  return {tile.query_row, tile.queries, head * heads.dim, heads.dim};
}

BlockPlace key_place(const Tile& tile, const Heads& heads, std::size_t head) {
  return {tile.key_row, tile.keys, head / (heads.queries / heads.kv) * heads.dim, heads.dim};
}

template <class T>
std::span<T> row_of(Scores<T>& scores, std::size_t row) {
  return {&scores(static_cast<Eigen::Index>(row), 0), static_cast<std::size_t>(scores.cols())};
}

// Scores of one query become e^((score - maximum) scale), those of keys not seen 0.
template <class T>
PartialAttention<T> exponentials(std::span<T> scores, std::size_t seen, T scale) {
  PartialAttention<T> part{.maximum = *std::max_element(
                               scores.begin(), scores.begin() + static_cast<std::ptrdiff_t>(seen))};
  for (T& score : scores.first(seen)) {
    score = static_cast<T>(exponential(static_cast<double>((score - part.maximum) * scale)));
    part.sum += static_cast<double>(score);
  }
  std::ranges::fill(scores.subspan(seen), T(0));
  return part;
}

// Where row and head stand in a tensor of one number for each.
std::size_t at(std::size_t row, std::size_t head, const Heads& heads) {
  return row * heads.queries + head;
}

template <class T>
std::span<T> values_of(const Tensor& values, std::size_t row, std::size_t head,
                       const Heads& heads) {
  return values.as<T>().subspan(at(row, head, heads) * heads.dim, heads.dim);
}

}  // namespace

template <class T>
void add_tile(const Tile& tile, const Heads& heads, const Tensor& q, const Tensor& k,
              const Tensor& v, const AttentionSoFar& so_far) {
  const T scale = scale_of<T>(heads);
  for (std::size_t head = 0; head < heads.queries; ++head) {
    const BlockPlace keys = key_place(tile, heads, head);
    Scores<T> scores = block<T>(q, query_place(tile, heads, head)) * block<T>(k, keys).transpose();
    std::vector<PartialAttention<T>> parts;
    for (std::size_t i = 0; i < tile.queries; ++i) {
      parts.push_back(exponentials(row_of(scores, i), tile.seen(i), scale));
    }
    Scores<T> values = scores * block<T>(v, keys);
    for (std::size_t i = 0; i < tile.queries; ++i) {
      const std::size_t row = tile.query_row + i;
      double& maximum = so_far.maxima.as<double>()[at(row, head, heads)];
      double& sum = so_far.sums.as<double>()[at(row, head, heads)];
      PartialAttention<T> whole{static_cast<T>(maximum), sum,
                                values_of<T>(so_far.values, row, head, heads)};
      parts[i].values = row_of(values, i);
      merge(whole, parts[i], scale);
      maximum = static_cast<double>(whole.maximum);
      sum = whole.sum;
    }
  }
}

template <class T>
void finish(const AttentionSoFar& so_far, const Heads& heads) {
  const auto sums = so_far.sums.as<double>();
  const auto maxima = so_far.maxima.as<double>();
  const auto scale = static_cast<double>(scale_of<T>(heads));
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums[i] > 0) {
      for (T& value : so_far.values.as<T>().subspan(i * heads.dim, heads.dim)) {
        value /= static_cast<T>(sums[i]);
      }
    }
    maxima[i] = sums[i] > 0 ? maxima[i] * scale + logarithm(sums[i])
                            : -std::numeric_limits<double>::infinity();
  }
}

template <class T>
void products_along(const Tensor& out, const Tensor& out_gradient, const Heads& heads,
                    const Tensor& along) {
  const auto sums = along.as<double>();
  for (std::size_t i = 0; i < sums.size(); ++i) {
    for (std::size_t d = i * heads.dim; d < (i + 1) * heads.dim; ++d) {
      sums[i] += static_cast<double>(out.as<T>()[d]) * static_cast<double>(out_gradient.as<T>()[d]);
    }
  }
}

template <class T>
void add_tile_gradients(const Tile& tile, const Heads& heads, const AttentionBackward& of,
                        const Tensor& k, const Tensor& v, const AttentionGradients& into) {
  const T scale = scale_of<T>(heads);
  const auto wide_scale = static_cast<double>(scale);  // as finish has it
  for (std::size_t head = 0; head < heads.queries; ++head) {
    const BlockPlace queries = query_place(tile, heads, head);
    const BlockPlace keys = key_place(tile, heads, head);
    const auto q = block<T>(of.q, queries);
    const auto d_out = block<T>(of.out_gradient, queries);
    Scores<T> weights = q * block<T>(k, keys).transpose();
    Scores<T> d_scores = d_out * block<T>(v, keys).transpose();
    for (std::size_t i = 0; i < tile.queries; ++i) {
      const std::size_t row = at(tile.query_row + i, head, heads);
      const double logarithm_of_sum = of.logarithms.as<double>()[row];
      const T along = static_cast<T>(of.along.as<double>()[row]);
      const auto w = row_of(weights, i);
      const auto d = row_of(d_scores, i);
      for (std::size_t j = 0; j < tile.seen(i); ++j) {
        // In f64: both may be large, and what they differ by is small.
        const double score = static_cast<double>(w[j]) * wide_scale;
        w[j] = static_cast<T>(exponential(score - logarithm_of_sum));
        d[j] = w[j] * (d[j] - along) * scale;
      }
      std::ranges::fill(w.subspan(tile.seen(i)), T(0));
      std::ranges::fill(d.subspan(tile.seen(i)), T(0));
    }
    block<T>(into.v, keys).noalias() += weights.transpose() * d_out;
    block<T>(into.q, queries).noalias() += d_scores * block<T>(k, keys);
    block<T>(into.k, keys).noalias() += d_scores.transpose() * q;
  }
}

template void add_tile<float>(const Tile&, const Heads&, const Tensor&, const Tensor&,
                              const Tensor&, const AttentionSoFar&);
template void add_tile<double>(const Tile&, const Heads&, const Tensor&, const Tensor&,
                               const Tensor&, const AttentionSoFar&);
template void finish<float>(const AttentionSoFar&, const Heads&);
template void finish<double>(const AttentionSoFar&, const Heads&);
template void products_along<float>(const Tensor&, const Tensor&, const Heads&, const Tensor&);
template void products_along<double>(const Tensor&, const Tensor&, const Heads&, const Tensor&);
template void add_tile_gradients<float>(const Tile&, const Heads&, const AttentionBackward&,
                                        const Tensor&, const Tensor&, const AttentionGradients&);
template void add_tile_gradients<double>(const Tile&, const Heads&, const AttentionBackward&,
                                         const Tensor&, const Tensor&, const AttentionGradients&);

}  // namespace ringside
