// What a rank has of a training's state, piece by piece: where it lies in the whole named tensors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/named_tensors.hpp"
#include "models/optimizer.hpp"
#include "models/parameter.hpp"
#include "runtime/buffer.hpp"

namespace ringside {

struct StatePart {
  std::string name;
  Buffer data;    // in place
  PieceOf piece;  // elements of a part, which may be all of the whole

  // Of the whole tensor.
  const std::vector<std::size_t>& whole() const {
    return piece.layout.dimension < 0 ? piece.shape : piece.layout.whole;
  }
};

// Where the element `i` of a part lies in the whole; none: in the padding.
std::optional<std::size_t> place_in_whole(const StatePart& part, std::size_t i);

// The values, as they stand: "embed.weight". Empty tensors are left out.
std::vector<StatePart> weight_parts(const std::vector<Parameter*>& parameters);

// What the optimizer keeps, cut as the parameters are: "embed.weight.exp_avg"; and the number of
// updates, a whole number on all who have a piece: "embed.weight.step".
std::vector<StatePart> optimizer_parts(Optimizer& optimizer);

// Whole tensors, filled with the parts of one process that has all of them.
NamedTensors whole_state(const std::vector<StatePart>& parts);

// Each part takes its elements of `state`; padding becomes 0. `where` names the state in errors.
// Throws BadUse, with tensor and numbers, for a name that is missing and for another type or shape.
void load_parts(const NamedTensors& state, const std::vector<StatePart>& parts,
                const std::string& where);

// Throws BadUse for names in `state` that no part has. `parts`: those of a whole model.
void refuse_unknown_names(const NamedTensors& state, const std::vector<StatePart>& parts,
                          const std::string& where);

}  // namespace ringside
