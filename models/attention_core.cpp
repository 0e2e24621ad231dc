#include "models/attention_core.hpp"

#include <algorithm>
#include <cmath>

#include "models/elementary.hpp"

namespace ringside {

namespace {

// One head of one sample: its square matrix begins at `square` of all, its rows at `row`.
struct Square {
  std::size_t square;
  std::size_t row;
  std::size_t size;
  std::size_t head;
};

template <class Fn>
void for_squares(const Sequences& sequences, std::size_t heads, Fn fn) {
  Square at{};
  for (const std::size_t length : sequences.lengths) {
    at.size = length;
    for (at.head = 0; at.head < heads; ++at.head) {
      fn(at);
      at.square += length * length;
    }
    at.row += length;
  }
}

template <class T>
Matrix<T> square_of(const Tensor& weights, const Square& at) {
  const auto n = static_cast<Eigen::Index>(at.size);
  return {weights.as<T>().data() + at.square, n, n};
}

// Scores of one query become weights: keys past `last` get 0.
template <class T>
void softmax_until(std::span<T> scores, std::size_t last, T scale) {
  const auto seen = scores.first(last + 1);
  const T largest = *std::max_element(seen.begin(), seen.end());
  double total = 0;
  for (T& score : seen) {
    score = static_cast<T>(exponential(static_cast<double>((score - largest) * scale)));
    total += static_cast<double>(score);
  }
  for (T& weight : seen) {
    weight /= static_cast<T>(total);
  }
  std::fill(scores.begin() + static_cast<std::ptrdiff_t>(last) + 1, scores.end(), T(0));
}

// The gradient of weights becomes that of scores, times `scale`: w (dw - sum of w dw).
template <class T>
void softmax_backward_until(std::span<T> grad, std::span<const T> weights, std::size_t last,
                            T scale) {
  double along = 0;
  for (std::size_t i = 0; i <= last; ++i) {
    along += static_cast<double>(grad[i]) * static_cast<double>(weights[i]);
  }
  for (std::size_t i = 0; i <= last; ++i) {
    grad[i] = weights[i] * (grad[i] - static_cast<T>(along)) * scale;
  }
  std::fill(grad.begin() + static_cast<std::ptrdiff_t>(last) + 1, grad.end(), T(0));
}

}  // namespace

std::int64_t causal_pairs(const Sequences& sequences) {
  std::int64_t pairs = 0;
  for (const std::size_t length : sequences.lengths) {
    pairs += static_cast<std::int64_t>(length * (length + 1) / 2);
  }
  return pairs;
}

template <class T>
Tensor AttentionCore<T>::make(const Tensor& like, std::vector<std::size_t> shape,
                              const char* what) const {
  return {device_.memory, like.dtype(), std::move(shape), Category::activations, name_ + what};
}

template <class T>
void AttentionCore<T>::charge(std::int64_t products, const Sequences& sequences,
                              const char* what) const {
  const auto width = static_cast<std::int64_t>(heads_.queries * heads_.dim);
  device_.clock.charge_flops(products * 2 * width * causal_pairs(sequences), name_ + what);
}

template <class T>
BlockPlace AttentionCore<T>::query_place(std::size_t row, std::size_t rows,
                                         std::size_t head) const {
  return {row, rows, head * heads_.dim, heads_.dim};
}

template <class T>
BlockPlace AttentionCore<T>::kv_place(std::size_t row, std::size_t rows, std::size_t head) const {
  const std::size_t group = heads_.queries / heads_.kv;
  return {row, rows, head / group * heads_.dim, heads_.dim};
}

template <class T>
T AttentionCore<T>::scale() const {
  return T(1) / std::sqrt(static_cast<T>(heads_.dim));
}

template <class T>
Tensor AttentionCore<T>::weights(const Tensor& q, const Tensor& k, const Sequences& sequences,
                                 Pass pass) const {
  std::size_t count = 0;
  for (const std::size_t length : sequences.lengths) {
    count += heads_.queries * length * length;
  }
  Tensor made = make(q, {count}, ".weights");
  charge(1, sequences, pass == Pass::forward ? ".scores forward" : ".scores recompute");
  if (made.meta()) {
    return made;
  }
  const std::span<T> all = made.as<T>();
  for_squares(sequences, heads_.queries, [&](const Square& at) {
    const auto queries = block<T>(q, query_place(at.row, at.size, at.head));
    const auto keys = block<T>(k, kv_place(at.row, at.size, at.head));
    square_of<T>(made, at).noalias() = queries * keys.transpose();
    for (std::size_t i = 0; i < at.size; ++i) {
      softmax_until(all.subspan(at.square + i * at.size, at.size), i, scale());
    }
  });
  return made;
}

template <class T>
Tensor AttentionCore<T>::mix(const Tensor& weights, const Tensor& v, const Sequences& sequences,
                             Pass pass) const {
  Tensor out = make(v, {v.shape().front(), heads_.queries * heads_.dim}, ".mixed");
  charge(1, sequences, pass == Pass::forward ? ".values forward" : ".values recompute");
  if (out.meta()) {
    return out;
  }
  for_squares(sequences, heads_.queries, [&](const Square& at) {
    block<T>(out, query_place(at.row, at.size, at.head)).noalias() =
        square_of<T>(weights, at) * block<T>(v, kv_place(at.row, at.size, at.head));
  });
  return out;
}

template <class T>
AttentionGradients AttentionCore<T>::backward(const Tensor& grad_out, const Tensor& weights,
                                              const Tensor& q, const Tensor& k, const Tensor& v,
                                              const Sequences& sequences) const {
  AttentionGradients grad{make(q, q.shape(), ".grad_q"), make(k, k.shape(), ".grad_k"),
                          make(v, v.shape(), ".grad_v")};
  const Tensor scores = make(weights, weights.shape(), ".grad_scores");
  charge(4, sequences, ".core input gradient");
  if (scores.meta()) {
    return grad;
  }
  const std::span<T> all = scores.as<T>();
  const std::span<const T> all_weights = weights.as<T>();
  for_squares(sequences, heads_.queries, [&](const Square& at) {
    const BlockPlace query = query_place(at.row, at.size, at.head);
    const BlockPlace kv = kv_place(at.row, at.size, at.head);
    const auto d_out = block<T>(grad_out, query);
    auto d_scores = square_of<T>(scores, at);
    block<T>(grad.v, kv).noalias() += square_of<T>(weights, at).transpose() * d_out;
    d_scores.noalias() = d_out * block<T>(v, kv).transpose();
    for (std::size_t i = 0; i < at.size; ++i) {
      const std::size_t first = at.square + i * at.size;
      softmax_backward_until(all.subspan(first, at.size), all_weights.subspan(first, at.size), i,
                             scale());
    }
    block<T>(grad.q, query).noalias() = d_scores * block<T>(k, kv);
    block<T>(grad.k, kv).noalias() += d_scores.transpose() * block<T>(q, query);
  });
  return grad;
}

template class AttentionCore<float>;
template class AttentionCore<double>;

}  // namespace ringside
