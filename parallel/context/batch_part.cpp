#include "parallel/context/batch_part.hpp"

namespace ringside {

namespace {

// Rows `block` of the sample that begins at `start`.
void add_rows(const Batch& whole, std::size_t start, const TokenBlock& block, Batch& part) {
  const auto at = [](std::size_t i) { return static_cast<std::ptrdiff_t>(i); };
  const std::size_t first = start + block.first;
  if (block.tokens > 0) {
    const auto contexts = whole.contexts.begin() + at(first * whole.context);
    const auto targets = whole.targets.begin() + at(first);
    part.contexts.insert(part.contexts.end(), contexts,
                         contexts + at(block.tokens * whole.context));
    part.targets.insert(part.targets.end(), targets, targets + at(block.tokens));
  }
  const std::size_t pads = block.rows - block.tokens;
  part.contexts.insert(part.contexts.end(), pads * whole.context, 0);
  part.targets.insert(part.targets.end(), pads, uncounted);
}

}  // namespace

Batch part_of(const Batch& whole, const TokenBlocks& blocks, int rank, Fault fault) {
  Batch part{.context = whole.context,
             .positions = blocks.places(whole.lengths, rank),
             .whole = whole.lengths};
  std::size_t start = 0;
  for (const std::size_t length : whole.lengths) {
    part.lengths.push_back(blocks.rows(length));
    for (const TokenBlock& block : blocks.of(length, rank)) {
      add_rows(whole, start, block, part);
    }
    start += length;
  }
  if (fault == Fault::positions_reset) {
    part.positions = make_sequences(part.lengths)->positions;
  }
  return part;
}

}  // namespace ringside
