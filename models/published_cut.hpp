// What one rank of a tensor-parallel group has of a published model's tensor.
#pragma once

#include <vector>

#include "models/gpt_cut.hpp"
#include "models/parameter.hpp"
#include "models/published_model.hpp"

namespace ringside {

struct PublishedShare {
  std::vector<std::size_t> shape{};  // of this rank's part, padding included
  Layout layout{};
  std::size_t products = 0;  // multiplications of this part for one token
};

// Where a tensor has fewer parts than there are ranks, several hold a copy of the same one. A
// vocabulary is padded to a multiple of the ranks. Throws BadUse, with the numbers, for parts that
// neither are divided by the ranks nor divide them.
PublishedShare share_of(const PublishedTensor& tensor, Cut cut, LayerKind kind);

}  // namespace ringside
