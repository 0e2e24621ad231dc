// Between a part of the tokens with all heads and all tokens with a part of the heads, by
// all-to-all (Jacobs et al. 2023, DeepSpeed-Ulysses, section 3).
#pragma once

#include <string>
#include <vector>

#include "models/gpt_cut.hpp"
#include "models/layer.hpp"
#include "parallel/context/token_blocks.hpp"
#include "runtime/comm.hpp"

namespace ringside {

// A deliberate fault: a rank does not take what came from another. -1: nobody.
struct LostPart {
  int rank = -1;  // that loses it
  int from = -1;
};

class HeadExchange {
 public:
  HeadExchange(Comm& group, DeviceMemory& memory, const TokenBlocks& blocks, std::string algorithm)
      : group_(group), memory_(memory), blocks_(blocks), algorithm_(std::move(algorithm)) {}

  // `x` [rows, width] of this rank's tokens, of which rank j is to have columns `of_rank[j]`, all
  // as many -> [tokens, columns], in the order of the samples' tokens, without padding. Columns
  // that go to several ranks are copied.
  Tensor to_heads(const Tensor& x, const std::vector<Share>& of_rank, const Sequences& sequences,
                  std::string_view label, LostPart lost = {}) const;

  // The way back: `y` [tokens, columns] -> [rows, width]. Columns that several ranks have are
  // added, in the order of the ranks. Padding is 0.
  Tensor to_tokens(const Tensor& y, const std::vector<Share>& of_rank, std::size_t width,
                   const Sequences& sequences, std::string_view label, LostPart lost = {}) const;

 private:
  Tensor buffer(const Tensor& like, std::size_t rows, std::size_t columns,
                std::string_view label) const;
  Tensor exchange(const Tensor& out, std::string_view label) const;

  Comm& group_;
  DeviceMemory& memory_;
  TokenBlocks blocks_;
  std::string algorithm_;
};

}  // namespace ringside
