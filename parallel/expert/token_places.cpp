#include "parallel/expert/token_places.hpp"

namespace ringside {

namespace {

std::vector<TokenRun> runs_of(const TokenBlocks& blocks, int rank, const Sequences& sequences) {
  std::vector<TokenRun> runs;
  std::size_t row = 0;
  std::size_t start = 0;  // of the sample
  for (const std::size_t length : sequences.whole) {
    for (const TokenBlock& block : blocks.of(length, rank)) {
      runs.push_back({.row = row, .count = block.tokens, .place = start + block.first});
      row += block.rows;
    }
    start += length;
  }
  return runs;
}

}  // namespace

std::vector<TokenRun> TokenPlaces::of(std::size_t rows, const Sequences* sequences) const {
  std::vector<TokenRun> runs{{.row = 0, .count = rows, .place = 0}};
  if (sequences != nullptr) {
    runs.front().count = sequences->positions.size();
    if (blocks) {
      runs = runs_of(*blocks, block_rank, *sequences);
    }
  }
  return cut.ranks == 1 ? runs : slice(runs, rows * static_cast<std::size_t>(cut.rank), rows);
}

}  // namespace ringside
