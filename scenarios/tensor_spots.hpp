// Names for the elements of what a rank records: the tensor, and the place in the whole of it.
#pragma once

#include <vector>

#include "models/parameter.hpp"
#include "parallel/deviation.hpp"
#include "parallel/finite_watch.hpp"
#include "scenarios/worst.hpp"

namespace ringside {

class TensorSpots {
 public:
  // Of a rank's part of the model, before it is cut further.
  explicit TensorSpots(const std::vector<Parameter*>& parameters);

  // `at` counts the rank's parameters, and the elements of its part.
  Spot of(const Element& at) const;
  Spot of(const FiniteWatch::Found& found) const;

 private:
  struct Known {
    const Parameter* parameter;
    std::string name;
    PieceOf part;
  };

  std::uint64_t in_whole(const Known& known, std::uint64_t element) const;

  std::vector<Known> known_;
};

// The first weight that is infinite or no number, of parameters or of pieces of them.
Spot not_finite_weight(const std::vector<Parameter*>& parameters);

}  // namespace ringside
