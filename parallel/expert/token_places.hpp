// Where the rows of a rank stand in their routing group, when its tokens are cut over ranks: by
// context parallelism into blocks of samples, and what a rank then has by sequence parallelism.
#pragma once

#include <optional>
#include <vector>

#include "models/gpt_cut.hpp"
#include "models/sequences.hpp"
#include "models/token_runs.hpp"
#include "parallel/context/token_blocks.hpp"

namespace ringside {

struct TokenPlaces {
  std::optional<TokenBlocks> blocks{};  // of context parallelism, of which this rank is
  int block_rank = 0;                   // this one
  Cut cut{};  // with sequence parallelism, which of the parts of ceil(rows / ranks) is here

  // Of the `rows` of a layer those that are tokens: a run for each block of each sample, as many on
  // every rank of the group. Without sequences, or blocks, the rows are one run.
  std::vector<TokenRun> of(std::size_t rows, const Sequences* sequences) const;
};

}  // namespace ringside
