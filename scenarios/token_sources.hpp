// Which ranks of a mesh have the tokens of a routing group, from the settings alone.
#pragma once

#include <cstddef>
#include <vector>

#include "parallel/mesh.hpp"
#include "scenarios/settings.hpp"

namespace ringside {

// Of one micro-batch of a data-parallel rank in one layer. Without sequence parallelism each
// tensor-parallel rank has all rows, and sends what the others send.
struct TokenSources {
  // Of each copy of the rows: the rank that has each token, in the group's order.
  std::vector<std::vector<int>> copies{};
  std::vector<int> ranks{};      // all of them, those without a token too
  std::int64_t runs_a_rank = 1;  // of neighbouring tokens
};

// `lengths`: of the micro-batch's samples; `device`, `dp`: where the layer is computed.
TokenSources token_sources(const Settings& settings, const std::vector<std::size_t>& lengths,
                           int device, int dp);

}  // namespace ringside
