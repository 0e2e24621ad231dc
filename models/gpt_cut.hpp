// What of a GPT is on one rank of a tensor-parallel group (Shoeybi et al. 2019, section 3).
#pragma once

#include <cstddef>

#include "models/gpt_config.hpp"

namespace ringside {

// Rank `rank` of `ranks`; alone by default.
struct Cut {
  int rank = 0;
  int ranks = 1;
};

// `count` whole heads, columns or rows from `first`.
struct Share {
  std::size_t first = 0;
  std::size_t count = 0;
};

struct GptShare {
  Share heads;
  Share kv_heads;        // of more ranks than KV heads, several hold a copy of the same one
  int kv_copies = 1;     // how many
  Share ffn;             // columns of gate and up, rows of down
  Share vocab;           // rows of the embedding and the head, the padding included
  std::size_t real = 0;  // of these rows: tokens of the vocabulary
};

// Throws BadUse, with the numbers and the nearest choices that would do: for a width of 0, another
// type than f32, f64 and bf16, heads that KV heads do not divide, a hidden width that heads do not
// divide (when head_dim is not given), an odd head_dim; for ranks that do not divide heads or ffn,
// or that neither divide the KV heads nor are a multiple of them.
void require_usable(const GptConfig& config, int ranks = 1);

// The vocabulary is padded to a multiple of the ranks. Throws as require_usable does, and for a
// rank outside the group.
GptShare share_of(const GptConfig& config, Cut cut);

}  // namespace ringside
