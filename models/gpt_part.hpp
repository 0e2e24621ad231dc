// What of a GPT a model is: by default all of it, on one rank.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>

#include "models/gpt_cut.hpp"
#include "models/seam.hpp"

namespace ringside {

// Consecutive layers, out of embed, layers.0, …, final_norm, head, counted from 0 in this order.
struct LayerRange {
  std::size_t first = 0;
  std::size_t count = std::numeric_limits<std::size_t>::max();  // or as many as there are

  bool has(std::size_t layer) const { return layer >= first && layer - first < count; }
};

struct GptPart {
  Cut cut{};
  std::shared_ptr<Seam> seam = std::make_shared<Seam>();
  LayerRange layers{};
};

// How many layers a GPT has: the blocks, and three.
constexpr std::size_t layer_count(const GptConfig& config) {
  return config.layers + 3;
}

}  // namespace ringside
