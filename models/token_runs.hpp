// The tokens that a rank has of a routing group, whose tokens are routed together: those of one
// micro-batch of one data-parallel rank, in the order of the samples and of the places in them.
#pragma once

#include <cstddef>
#include <vector>

namespace ringside {

// Rows [row, row + count) of a layer are the group's tokens `place`, place + 1, ...
struct TokenRun {
  std::size_t row = 0;
  std::size_t count = 0;
  std::size_t place = 0;
};

// The rows, in the order of the runs.
std::vector<std::size_t> rows_of(const std::vector<TokenRun>& runs);

// Of rows [first, first + count) alone, counted from the first of them: as many runs, though some
// be empty.
std::vector<TokenRun> slice(const std::vector<TokenRun>& runs, std::size_t first,
                            std::size_t count);

}  // namespace ringside
