#include "parallel/sharded_record.hpp"

#include <algorithm>
#include <numeric>

namespace ringside {

namespace {

// Of the piece's tensor, in the order of all layers' tensors.
std::size_t place_of(const ShardPiece& piece, const std::vector<std::size_t>& tensors) {
  return std::accumulate(tensors.begin(),
                         tensors.begin() + static_cast<std::ptrdiff_t>(piece.layer), piece.tensor);
}

}  // namespace

StepRecord whole_tensors(const StepRecord& record, const std::vector<ShardPiece>& pieces,
                         const std::vector<std::size_t>& tensors, const StepRecord& reference) {
  StepRecord whole = record;
  whole.gradients = reference.gradients;
  whole.parameters = reference.parameters;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::size_t place = place_of(pieces[i], tensors);
    const auto first = static_cast<std::ptrdiff_t>(pieces[i].first);
    std::ranges::copy(record.gradients[i], whole.gradients[place].begin() + first);
    std::ranges::copy(record.parameters[i], whole.parameters[place].begin() + first);
  }
  return whole;
}

std::vector<double> elements_in(const std::vector<ShardPiece>& pieces,
                                const std::vector<std::size_t>& tensors,
                                const std::vector<std::vector<double>>& whole) {
  std::vector<double> elements;
  for (const ShardPiece& piece : pieces) {
    const auto& tensor = whole[place_of(piece, tensors)];
    const auto first = tensor.begin() + static_cast<std::ptrdiff_t>(piece.first);
    elements.insert(elements.end(), first, first + static_cast<std::ptrdiff_t>(piece.count));
  }
  return elements;
}

}  // namespace ringside
