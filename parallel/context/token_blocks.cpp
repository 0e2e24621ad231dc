#include "parallel/context/token_blocks.hpp"

#include <algorithm>
#include <string>

#include "runtime/errors.hpp"

namespace ringside {

ContextLayout parse_context_layout(std::string_view name) {
  if (name == "contiguous") {
    return ContextLayout::contiguous;
  }
  if (name == "zigzag") {
    return ContextLayout::zigzag;
  }
  throw BadUse("no layout of tokens is called \"" + std::string(name) +
               "\": choose contiguous or zigzag");
}

TokenBlocks::TokenBlocks(ContextLayout layout, int ranks) : layout_(layout), ranks_(ranks) {
  if (ranks < 1) {
    throw BadUse("samples cannot be cut over " + std::to_string(ranks) + " ranks");
  }
}

std::size_t TokenBlocks::width(std::size_t length) const {
  const std::size_t blocks = per_rank() * static_cast<std::size_t>(ranks_);
  return (length + blocks - 1) / blocks;
}

std::vector<TokenBlock> TokenBlocks::of(std::size_t length, int rank) const {
  const std::size_t rows = width(length);
  const auto block = [&](int index) {
    const std::size_t first = static_cast<std::size_t>(index) * rows;
    return TokenBlock{first, rows, std::min(length - std::min(length, first), rows)};
  };
  if (layout_ == ContextLayout::contiguous) {
    return {block(rank)};
  }
  return {block(rank), block(2 * ranks_ - 1 - rank)};
}

std::vector<std::int32_t> TokenBlocks::places(std::span<const std::size_t> lengths,
                                              int rank) const {
  std::vector<std::int32_t> places;
  for (const std::size_t length : lengths) {
    for (const TokenBlock& block : of(length, rank)) {
      for (std::size_t i = 0; i < block.rows; ++i) {
        places.push_back(static_cast<std::int32_t>(block.first + i));
      }
    }
  }
  return places;
}

}  // namespace ringside
