// Which tokens of a sample each rank of a context-parallel group has.
//
// A sample is cut into blocks of equal width, and a rank has one of them (contiguous), or two, one
// from each end (zig-zag: block r and block 2c-1-r of 2c), so that causal work is the same on all.
// Where the blocks do not divide the sample it is padded at its end: ranks have as many rows each,
// of which those past the sample stand for no token.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace ringside {

enum class ContextLayout : std::uint8_t { contiguous, zigzag };

// "contiguous", "zigzag"; throws BadUse for another name.
ContextLayout parse_context_layout(std::string_view name);

// Places are counted in the sample, from 0.
struct TokenBlock {
  std::size_t first = 0;  // place of its first row
  std::size_t rows = 0;
  std::size_t tokens = 0;  // of the rows: the first ones, the rest is padding
};

class TokenBlocks {
 public:
  // Throws BadUse for fewer than 1 rank.
  TokenBlocks(ContextLayout layout, int ranks);

  int ranks() const { return ranks_; }

  // Of a sample of `length` tokens: the rows of every rank.
  std::size_t rows(std::size_t length) const { return per_rank() * width(length); }

  // Of a rank, in the order of its rows, which is that of their places.
  std::vector<TokenBlock> of(std::size_t length, int rank) const;

  // The place of each row of a rank, padding included.
  std::vector<std::int32_t> places(std::span<const std::size_t> lengths, int rank) const;

 private:
  std::size_t per_rank() const { return layout_ == ContextLayout::zigzag ? 2 : 1; }

  // Of a block.
  std::size_t width(std::size_t length) const;

  ContextLayout layout_;
  int ranks_;
};

}  // namespace ringside
