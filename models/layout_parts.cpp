#include "models/layout_parts.hpp"

#include <functional>
#include <numeric>

#include "runtime/errors.hpp"

namespace ringside {

namespace {

std::size_t product(const std::vector<std::size_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
}

void require_as_many(std::size_t parts, std::size_t wholes) {
  if (parts != wholes) {
    throw BadUse("a part of " + std::to_string(parts) + " parameters, but a whole of " +
                 std::to_string(wholes) + ": both must be of one model");
  }
}

std::vector<double> part_of(const std::string& name, const PieceOf& part,
                            std::span<const double> whole) {
  if (whole.size() != product(part.layout.whole)) {
    throw BadUse("parameter " + name + " has " + std::to_string(product(part.layout.whole)) +
                 " elements in the whole, but " + std::to_string(whole.size()) +
                 " were given: both must be of one model");
  }
  std::vector<double> elements(product(part.shape));
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const auto place = place_in_whole(part.layout, part.shape, i);
    elements[i] = place ? whole[*place] : 0;
  }
  return elements;
}

}  // namespace

std::optional<std::size_t> place_in_whole(const Layout& layout,
                                          const std::vector<std::size_t>& shape, std::size_t i) {
  if (layout.dimension < 0) {
    return i;
  }
  const auto dimension = static_cast<std::size_t>(layout.dimension);
  std::size_t inner = 1;  // elements of a step along the dimension that is cut
  for (std::size_t d = dimension + 1; d < shape.size(); ++d) {
    inner *= shape[d];
  }
  const std::size_t outer = i / (inner * shape[dimension]);
  const std::size_t at = layout.first + i / inner % shape[dimension];
  if (at >= layout.whole[dimension]) {
    return std::nullopt;
  }
  return (outer * layout.whole[dimension] + at) * inner + i % inner;
}

std::vector<double> part_of(const Parameter& part, std::span<const double> whole) {
  return part_of(part.name, {.shape = part.value.shape(), .layout = part.layout}, whole);
}

std::vector<std::vector<double>> parts_of(const std::vector<Parameter*>& parts,
                                          const std::vector<std::vector<double>>& wholes) {
  require_as_many(parts.size(), wholes.size());
  std::vector<std::vector<double>> all;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    all.push_back(part_of(*parts[p], wholes[p]));
  }
  return all;
}

std::vector<std::vector<double>> parts_of(const std::vector<PieceOf>& parts,
                                          const std::vector<std::vector<double>>& wholes) {
  require_as_many(parts.size(), wholes.size());
  std::vector<std::vector<double>> all;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    all.push_back(part_of(std::to_string(p), parts[p], wholes[p]));
  }
  return all;
}

}  // namespace ringside
