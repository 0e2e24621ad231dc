#include "models/token_runs.hpp"

#include <algorithm>

namespace ringside {

std::vector<std::size_t> rows_of(const std::vector<TokenRun>& runs) {
  std::vector<std::size_t> rows;
  for (const TokenRun& run : runs) {
    for (std::size_t i = 0; i < run.count; ++i) {
      rows.push_back(run.row + i);
    }
  }
  return rows;
}

std::vector<TokenRun> slice(const std::vector<TokenRun>& runs, std::size_t first,
                            std::size_t count) {
  std::vector<TokenRun> inside;
  for (const TokenRun& run : runs) {
    const std::size_t begin = std::clamp(run.row, first, first + count);
    const std::size_t end = std::clamp(run.row + run.count, first, first + count);
    inside.push_back({.row = begin - first,
                      .count = end - begin,
                      .place = run.place + (begin - std::min(begin, run.row))});
  }
  return inside;
}

}  // namespace ringside
