// A parameter's part and its whole: one cut out of the other, or put back, element by element.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "models/parameter.hpp"

namespace ringside {

// Where the element `i` of a part of shape `shape` lies in the whole; none: in the padding.
std::optional<std::size_t> place_in_whole(const Layout& layout,
                                          const std::vector<std::size_t>& shape, std::size_t i);

// The elements of `whole` that this part has, 0 for padding. Throws BadUse when `whole` has another
// size than the layout says.
std::vector<double> part_of(const Parameter& part, std::span<const double> whole);

// The same of several parameters, one after the other.
std::vector<std::vector<double>> parts_of(const std::vector<Parameter*>& parts,
                                          const std::vector<std::vector<double>>& wholes);

// The same again: each `part` is all of a parameter's part, as it was made, whatever became of its
// tensor since.
std::vector<std::vector<double>> parts_of(const std::vector<PieceOf>& parts,
                                          const std::vector<std::vector<double>>& wholes);

}  // namespace ringside
