// Causal attention between queries, keys and values that are given (Vaswani et al. 2017, section
// 3.2.1), with fewer key and value heads than query heads (Ainslie et al. 2023, GQA).
//
// Samples do not see each other, and a token sees itself and those before it in its sample. Query
// head h goes with KV head h / (heads / kv_heads). Charged are the pairs (query, key) that count,
// n(n+1)/2 of a sample of n tokens: 2 head_dim operations a pair, a head and a product.
#pragma once

#include "models/causal_attention.hpp"
#include "models/matrix.hpp"

namespace ringside {

// Pairs (query, key) that count, over all samples.
std::int64_t causal_pairs(const Sequences& sequences);

template <class T>
class AttentionCore {
 public:
  AttentionCore(Device device, std::string name, Heads heads)
      : device_(device), name_(std::move(name)), heads_(heads) {}

  // softmax(q k^T / sqrt(dim)): of each sample and head a square matrix, one after the other.
  // `q`: [rows, queries * dim], `k`: [rows, kv * dim].
  Tensor weights(const Tensor& q, const Tensor& k, const Sequences& sequences, Pass pass) const;

  // weights times v: [rows, queries * dim].
  Tensor mix(const Tensor& weights, const Tensor& v, const Sequences& sequences, Pass pass) const;

  // A KV head's gradient adds up its query heads in ascending order.
  AttentionGradients backward(const Tensor& grad_out, const Tensor& weights, const Tensor& q,
                              const Tensor& k, const Tensor& v, const Sequences& sequences) const;

 private:
  Tensor make(const Tensor& like, std::vector<std::size_t> shape, const char* what) const;
  // Columns of a query head, and of the KV head that goes with it.
  BlockPlace query_place(std::size_t row, std::size_t rows, std::size_t head) const;
  BlockPlace kv_place(std::size_t row, std::size_t rows, std::size_t head) const;
  T scale() const;
  void charge(std::int64_t products, const Sequences& sequences, const char* what) const;

  Device device_;
  std::string name_;
  Heads heads_;
};

}  // namespace ringside
