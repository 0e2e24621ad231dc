#include "models/published_cut.hpp"

#include <algorithm>

#include "runtime/errors.hpp"

namespace ringside {

namespace {

bool is_vocabulary(LayerKind kind) {
  return kind == LayerKind::embedding || kind == LayerKind::head;
}

}  // namespace

PublishedShare share_of(const PublishedTensor& tensor, Cut cut, LayerKind kind) {
  const auto ranks = static_cast<std::size_t>(cut.ranks);
  PublishedShare share{
      .shape = tensor.shape, .layout = {.whole = tensor.shape}, .products = tensor.products};
  if (tensor.split < 0 || ranks == 1) {
    share.layout.copies = cut.ranks;
    return share;
  }
  const std::size_t pieces = std::min(tensor.parts, ranks);
  const bool fits = tensor.parts % ranks == 0 || ranks % tensor.parts == 0;
  if (!fits && !is_vocabulary(kind)) {
    throw BadUse("tensor " + tensor.name + " has " + std::to_string(tensor.parts) +
                 " parts, which " + std::to_string(cut.ranks) +
                 " tensor-parallel ranks can neither share evenly nor copy evenly: take a number "
                 "of ranks that divides " +
                 std::to_string(tensor.parts) + ", or a multiple of it");
  }
  const auto dimension = static_cast<std::size_t>(tensor.split);
  const std::size_t extent = (tensor.shape[dimension] + pieces - 1) / pieces;
  const std::size_t copies = ranks / pieces;
  share.shape[dimension] = extent;
  share.layout.dimension = tensor.split;
  share.layout.first = static_cast<std::size_t>(cut.rank) / copies * extent;
  share.layout.copies = static_cast<int>(copies);
  share.layout.partial_gradient = copies > 1;
  share.products = tensor.products / tensor.shape[dimension] * extent;
  return share;
}

}  // namespace ringside
