// How the layers of a model are dealt out to the stages of a pipeline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringside {

// Layers of each stage, in order.
using StageSplit = std::vector<std::size_t>;

// Throws BadUse when a stage would have no block, whichever way they are dealt out.
void require_blocks(std::size_t blocks, int stages);

// By number: the first blocks mod stages stages have one block more; before the first stage's come
// `before` layers, after the last stage's `after` (a GPT's embedding, and its norm and head).
// Throws BadUse when there are fewer blocks than stages.
StageSplit split_by_number(std::size_t blocks, int stages, std::size_t before, std::size_t after);

// By cost: consecutive layers so that the most expensive stage costs as little as can be, which
// brings a heavy head a stage with fewer blocks. Of several ways the one in which early stages have
// as much as they may. Throws BadUse when there are fewer layers that cost anything than stages.
StageSplit split_by_cost(const std::vector<std::int64_t>& costs, int stages);

// The layers, counted in the whole model, of the stages `stages`.
std::vector<std::size_t> layers_of(const StageSplit& split, const std::vector<int>& stages);

// "4 + 3 + 3 + 5", "2 + 6 x 1 + 3": of three or more equal neighbours how many, and each of them.
std::string split_text(const StageSplit& split, std::string_view separator = " + ");

}  // namespace ringside
