// Copies of tokens, one for each expert that a token goes to, in the order of the experts; and
// their sums.
#pragma once

#include <span>
#include <vector>

#include "models/expert_choice.hpp"
#include "models/layer.hpp"

namespace ringside {

// Places in [tokens, top_k] of the choices that were not dropped: by `order` of the experts, then
// by token. `order`: experts, each at most once, of `experts` that there are.
std::vector<std::size_t> choices_by_expert(const Routing& routing,
                                           std::span<const std::size_t> order, std::size_t experts);

// [rows, width] -> [places, width]: row `rows[i]` of `from` becomes row i.
Tensor take_rows(DeviceMemory& memory, const Tensor& from, std::span<const std::size_t> rows);

// [places, width] -> [count, width]: row i is added to row `rows[i]`, in the order of i.
Tensor add_rows(DeviceMemory& memory, const Tensor& from, std::span<const std::size_t> rows,
                std::size_t count);

}  // namespace ringside
