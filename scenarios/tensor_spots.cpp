#include "scenarios/tensor_spots.hpp"

#include <algorithm>
#include <cmath>

#include "models/layout_parts.hpp"
#include "models/tensor_elements.hpp"

namespace ringside {

TensorSpots::TensorSpots(const std::vector<Parameter*>& parameters) {
  for (const Parameter* p : parameters) {
    known_.push_back({p, p->name, {.shape = p->value.shape(), .layout = p->layout}});
  }
}

std::uint64_t TensorSpots::in_whole(const Known& known, std::uint64_t element) const {
  const auto& [shape, layout, first] = known.part;
  return layout.dimension < 0
             ? element
             : place_in_whole(layout, shape, static_cast<std::size_t>(element)).value_or(element);
}

Spot TensorSpots::of(const Element& at) const {
  if (at.tensor < 0) {
    return {};
  }
  const Known& known = known_.at(static_cast<std::size_t>(at.tensor));
  return {std::string_view(known.name), in_whole(known, at.index), at.run, at.reference};
}

Spot TensorSpots::of(const FiniteWatch::Found& found) const {
  const auto known = std::ranges::find(known_, found.parameter, &Known::parameter);
  return known == known_.end()
             ? Spot{}
             : Spot{std::string_view(known->name), in_whole(*known, found.element), found.value, 0};
}

Spot not_finite_weight(const std::vector<Parameter*>& parameters) {
  Spot found;
  for (const Parameter* p : parameters) {
    const PieceOf part = p->piece.value_or(PieceOf{.shape = p->value.shape(), .layout = p->layout});
    std::size_t at = part.first;
    for_each_element(p->value, [&](auto element) {
      const auto value = static_cast<double>(element);
      if (!found.there() && !std::isfinite(value)) {
        found = {std::string_view(p->name), at, value, value};
        found.element = part.layout.dimension < 0
                            ? at
                            : place_in_whole(part.layout, part.shape, at).value_or(at);
      }
      ++at;
    });
  }
  return found;
}

}  // namespace ringside
