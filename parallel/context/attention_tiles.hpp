// Attention between the queries of one rank and the keys of one rank, block by block.
//
// Score matrices of two blocks exist for one head at a time and are not kept, as in a fused kernel
// (Dao et al. 2022, FlashAttention): they are not in the ledger. Backward computes them again from
// the logarithm of each row's sum.
#pragma once

#include <cstdint>

#include "models/causal_attention.hpp"
#include "models/matrix.hpp"
#include "parallel/context/token_blocks.hpp"

namespace ringside {

// Two blocks of a sample of which queries see keys. Rows are the ranks' own.
struct Tile {
  std::size_t query_row = 0;
  std::size_t queries = 0;  // tokens, without padding
  std::size_t key_row = 0;
  std::size_t keys = 0;
  bool diagonal = false;  // the same block: query i sees keys 0 to i; otherwise all

  std::size_t seen(std::size_t query) const { return diagonal ? query + 1 : keys; }

  // (query, key) that count.
  std::int64_t pairs() const {
    return static_cast<std::int64_t>(diagonal ? queries * (queries + 1) / 2 : queries * keys);
  }
};

// What a token sees of its sample: itself and those before it, or all.
enum class Mask : std::uint8_t { causal, full };

// Of all samples, by query block and then by key block: `of_queries` and `of_keys` are group ranks.
// What no query sees is left out.
std::vector<Tile> tiles(const TokenBlocks& blocks, std::span<const std::size_t> lengths,
                        int of_queries, int of_keys, Mask mask = Mask::causal);

// What a query has so far: `values` [rows, queries * dim]; `maxima` and `sums`, f64 [rows, queries]
// (partial_attention.hpp).
struct AttentionSoFar {
  Tensor values;
  Tensor maxima;
  Tensor sums;
};

// Merges in the keys of a tile, head after head; a tile's sums are added in the order of its keys.
// `k` and `v`: [rows, kv * dim].
template <class T>
void add_tile(const Tile& tile, const Heads& heads, const Tensor& q, const Tensor& k,
              const Tensor& v, const AttentionSoFar& so_far);

// Values become the attention of their rows, and maxima the logarithms of the sums of e^(score
// scale). Rows that saw no key: 0 and -inf.
template <class T>
void finish(const AttentionSoFar& so_far, const Heads& heads);

struct AttentionBackward {
  Tensor q;
  Tensor out_gradient;
  Tensor logarithms;  // as finish leaves them
  Tensor along;       // f64 [rows, queries]: of each row, the product of result and its gradient
};

// Of each row and head, f64.
template <class T>
void products_along(const Tensor& out, const Tensor& out_gradient, const Heads& heads,
                    const Tensor& along);

// Adds the gradients of a tile, head after head: a KV head adds up its query heads in
// ascending order.
template <class T>
void add_tile_gradients(const Tile& tile, const Heads& heads, const AttentionBackward& of,
                        const Tensor& k, const Tensor& v, const AttentionGradients& into);

}  // namespace ringside
