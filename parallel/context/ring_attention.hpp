// Ring attention: keys and values travel round the ring, and every rank's queries see those of all
// ranks in turn (Liu et al. 2023, Ring Attention, section 3).
//
// In step t rank r has the keys and values of rank r-t. They are sent on while it computes with
// them; what no query of it sees is skipped, and travels all the same. A hop is one message of K
// and V, and each pass sends c-1; backward sends K and V again, and after them their gradients,
// which make one hop more, home: with B bytes of K and V on a rank, (c-1) B and then (c-1) B + c B.
//
// A row's keys are added block by block, in the order in which they arrive: own ones first, then
// those of rank r-1, r-2, …, and of one rank in the order of their places. The gradients of a
// rank's keys and values are added by that rank first, then by r+1, r+2, …. One process adds all
// keys of a row at once, so bits differ.
#pragma once

#include <memory>

#include "models/causal_attention.hpp"
#include "parallel/context/attention_tiles.hpp"
#include "parallel/context/context_attention.hpp"
#include "parallel/fault.hpp"
#include "runtime/comm.hpp"

namespace ringside {

struct RingOptions {
  Mask mask = Mask::causal;  // full: for layers that look both ways, of which the GPT has none
  Fault fault = Fault::none;
};

// f32, f64, or meta tensors of any type. Keeps of a micro-batch q, k, v and one f64 for each row
// and head. Throws BadUse when a micro-batch is not cut (Sequences::whole), or not as `blocks`
// says. `group` and `device` outlive it.
std::shared_ptr<ContextAttention> make_ring_attention(Comm& group, Device device,
                                                      const TokenBlocks& blocks,
                                                      RingOptions options = {});

}  // namespace ringside
