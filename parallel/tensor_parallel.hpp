// Tensor parallelism of a GPT or a published model: every layer is cut over the ranks of a group,
// which compute all tokens together (Shoeybi et al. 2019, Megatron-LM, section 3).
//
// The model is cut by models/gpt.hpp, or models/meta_layer.hpp, and sewn together by
// tensor_seam.hpp. What is left is here: gradients of what several ranks hold, and a norm in which
// each parameter counts once.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "models/gpt.hpp"
#include "models/published_model.hpp"
#include "parallel/tensor_seam.hpp"

namespace ringside {

class TensorParallel {
 public:
  // `group` outlives it and its models. Throws what share_of does. No communication.
  TensorParallel(Comm& group, DeviceMemory& memory, const GptConfig& config,
                 TensorParallelOptions options = {});
  // The same of a published model's parts (published_cut.hpp).
  TensorParallel(Comm& group, DeviceMemory& memory, const PublishedModel& model,
                 TensorParallelOptions options = {});

  Cut cut() const { return {group_.rank(), group_.size()}; }

  const std::shared_ptr<Seam>& seam() const { return seam_; }

  // Sums over their copies the gradients of which each rank has a part: of copied KV heads, and,
  // with sequence parallelism, of the norms. All copies end with the same bits. Once for each
  // reduction of a step's gradients, when backward has added all to them.
  void sum_partial_gradients(const std::vector<Parameter*>& parameters);

  // Whether what has this layout counts here in what is summed over the ranks: it does on the first
  // of those that hold it.
  bool counts_here(const Layout& layout) const;

  // Over the ranks, 8 bytes all-reduced: the squares of a norm.
  double sum(double squares);

  // Of the whole model's gradients, by a rank's own parameters, added in f64.
  double sum_of_squares(const std::vector<Parameter*>& parameters);

 private:
  bool in_parts(const Parameter& parameter) const;
  void make_holders(int copies);
  Comm& holders(const Parameter& parameter);

  Comm& group_;
  TensorParallelOptions options_;
  std::shared_ptr<Seam> seam_;
  std::map<int, std::unique_ptr<Comm>> holders_;  // by copies: the ranks with the same KV heads
};

}  // namespace ringside
