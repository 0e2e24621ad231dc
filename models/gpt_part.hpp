// What of a GPT a model is: by default all of it, on one rank.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "models/causal_attention.hpp"
#include "models/expert_dispatch.hpp"
#include "models/gpt_cut.hpp"
#include "models/seam.hpp"

namespace ringside {

struct GptPart {
  Cut cut{};
  std::shared_ptr<Seam> seam = std::make_shared<Seam>();
  // Out of embed, layers.0, …, final_norm, head, counted from 0 in this order; none: all.
  std::vector<std::size_t> layers{};
  std::shared_ptr<CausalAttention> attention{};  // none: samples are whole here
  std::shared_ptr<ExpertDispatch> dispatch = std::make_shared<ExpertDispatch>();
};

// How many layers a GPT has: the blocks, and three.
constexpr std::size_t layer_count(const GptConfig& config) {
  return config.layers + 3;
}

}  // namespace ringside
