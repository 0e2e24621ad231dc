// What both forms of context-parallel attention have in common.
#pragma once

#include "models/causal_attention.hpp"
#include "parallel/context/token_blocks.hpp"

namespace ringside {

class ContextAttention : public CausalAttention {
 public:
  // (query, key, head) that this rank has computed in forward passes so far, counted on the way.
  std::int64_t head_pairs() const { return head_pairs_; }

 protected:
  void count(std::int64_t head_pairs) { head_pairs_ += head_pairs; }

 private:
  std::int64_t head_pairs_ = 0;
};

// Throws BadUse unless the micro-batch is cut as `blocks` says.
void require_cut(const AttentionCall& call, const TokenBlocks& blocks);

}  // namespace ringside
