// Context parallelism of a GPT: every sample is cut over the ranks of a group, which hold the same
// parameters; attention alone looks across (Liu et al. 2023, Ring Attention; Jacobs et al. 2023,
// DeepSpeed-Ulysses).
//
// Gradients are those of the group's own tokens: they are summed over it as over data-parallel
// ranks, with them in one group, and so are losses and counted tokens.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "models/gpt_config.hpp"
#include "models/gpt_cut.hpp"
#include "parallel/context/batch_part.hpp"
#include "parallel/context/context_attention.hpp"
#include "parallel/fault.hpp"
#include "runtime/comm.hpp"

namespace ringside {

enum class ContextForm : std::uint8_t { ring, ulysses };

// "ring", "ulysses"; throws BadUse for another name.
ContextForm parse_context_form(std::string_view name);

struct ContextParallelOptions {
  ContextForm form = ContextForm::ring;
  ContextLayout layout = ContextLayout::zigzag;
  std::string all_to_all = "pairwise";  // of Ulysses
  Fault fault = Fault::none;
};

// Throws BadUse, with the numbers and the nearest choices that would do, for fewer than 1 rank, and
// as require_divisible_heads (ulysses_attention.hpp) does of the heads that each of `cut_over`
// tensor-parallel ranks has.
void require_usable(const GptConfig& config, int cut_over, ContextForm form, int ranks);

class ContextParallel {
 public:
  // Of a GPT with this configuration, or the part of it that a tensor-parallel rank has. `group`
  // and `device` outlive it and its models. Throws as require_usable does. No communication.
  ContextParallel(Comm& group, Device device, const GptConfig& config,
                  ContextParallelOptions options = {}, int cut_over = 1);

  // For GptPart.
  const std::shared_ptr<ContextAttention>& attention() const { return attention_; }

  const TokenBlocks& blocks() const { return blocks_; }

  // This rank's part of a micro-batch.
  Batch part_of(const Batch& whole) const;

  // (query, key, head) computed by this rank in forward passes so far.
  std::int64_t head_pairs() const { return attention_->head_pairs(); }

 private:
  Comm& group_;
  ContextParallelOptions options_;
  TokenBlocks blocks_;
  std::shared_ptr<ContextAttention> attention_;
};

}  // namespace ringside
