// The seams of tensor and sequence parallelism: what travels between the ranks that share every
// layer, and when.
//
//                  tensor parallel       with sequence parallelism
//   enter          nothing               all-gather
//   its backward   all-reduce            reduce-scatter
//   leave          all-reduce            reduce-scatter
//   its backward   nothing               all-gather
//
// (Shoeybi et al. 2019, Megatron-LM, section 3; Korthikanti et al. 2022, section 4.2.) Every
// operation is waited for: the next product needs its result. A block has four, of tokens * hidden
// elements: 4 * 2(t-1)/t * tokens * hidden * bytes sent by a rank, with and without sequence
// parallelism. Embedding and head have two more, and the softmax three f64 a token.
#pragma once

#include <memory>
#include <string>

#include "models/seam.hpp"
#include "parallel/fault.hpp"
#include "runtime/comm.hpp"

namespace ringside {

struct TensorParallelOptions {
  // Between the seams every rank has a part of the tokens: ceil(tokens / t) rows each, of which the
  // last may be padding, all 0.
  bool sequence = false;
  std::string all_reduce = "ring";
  std::string reduce_scatter = "ring";
  std::string all_gather = "ring";
  Fault fault = Fault::none;
};

// Of this rank in the group. `padding`: rows of its part of the vocabulary that stand for no token;
// only the fault that counts them looks at it.
std::shared_ptr<Seam> make_tensor_seam(Comm& group, DeviceMemory& memory,
                                       const TensorParallelOptions& options,
                                       std::size_t padding = 0);

}  // namespace ringside
