// Ulysses: an all-to-all of Q, K and V turns a part of the tokens with all heads into all tokens
// with a part of the heads, whose attention one rank computes as one process does; another turns
// the output back (Jacobs et al. 2023, DeepSpeed-Ulysses, section 3).
//
// Query heads are divided over the ranks. KV heads are divided too; where there are fewer than
// ranks, each goes to all ranks that have its queries, and their gradients come back to be added,
// in the order of the ranks. A pass sends (c-1)/c (rows) (2 queries + 2 max(kv, c)) dim elements.
#pragma once

#include <memory>
#include <string>

#include "parallel/context/context_attention.hpp"
#include "parallel/fault.hpp"
#include "runtime/comm.hpp"

namespace ringside {

// Throws BadUse, with the numbers and the nearest choices that would do, for ranks that do not
// divide the query heads, or that neither divide the KV heads nor are a multiple of them.
void require_divisible_heads(const Heads& heads, int ranks);

struct UlyssesOptions {
  std::shared_ptr<CausalAttention> inside;  // of whole samples
  std::string all_to_all = "pairwise";
  Fault fault = Fault::none;
};

// Keeps what `inside` does, of this rank's heads. Throws as require_divisible_heads and
// require_cut. `group` and `memory` outlive it.
std::shared_ptr<ContextAttention> make_ulysses_attention(Comm& group, DeviceMemory& memory,
                                                         const TokenBlocks& blocks,
                                                         UlyssesOptions options);

}  // namespace ringside
