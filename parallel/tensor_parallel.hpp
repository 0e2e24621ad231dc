// Tensor parallelism of a GPT: every layer is cut over the ranks of a group, which compute all
// tokens together (Shoeybi et al. 2019, Megatron-LM, section 3).
//
// The model is cut by models/gpt.hpp and sewn together by tensor_seam.hpp. What is left is here:
// gradients of what several ranks hold, and a norm in which each parameter counts once.
#pragma once

#include <memory>
#include <vector>

#include "models/gpt.hpp"
#include "parallel/tensor_seam.hpp"

namespace ringside {

class TensorParallel {
 public:
  // `group` outlives it and its models. Throws what share_of does. No communication.
  TensorParallel(Comm& group, DeviceMemory& memory, const GptConfig& config,
                 TensorParallelOptions options = {});

  Cut cut() const { return {group_.rank(), group_.size()}; }

  const std::shared_ptr<Seam>& seam() const { return seam_; }

  // Sums over their copies the gradients of which each rank has a part: of copied KV heads, and,
  // with sequence parallelism, of the norms. All copies end with the same bits. Once for each
  // reduction of a step's gradients, when backward has added all to them.
  void sum_partial_gradients(const std::vector<Parameter*>& parameters);

  // Of the whole model's gradients, by a rank's own parameters: each counts on the first of the
  // ranks that hold it. Added in f64, 8 bytes all-reduced.
  double sum_of_squares(const std::vector<Parameter*>& parameters);

 private:
  bool in_parts(const Parameter& parameter) const;
  bool counts_here(const Parameter& parameter) const;
  Comm& holders(const Parameter& parameter);

  Comm& group_;
  TensorParallelOptions options_;
  std::shared_ptr<Seam> seam_;
  std::unique_ptr<Comm> kv_group_;  // the ranks with the same KV heads; none: no copies
};

}  // namespace ringside
