// The columns in which the contents of ranks are shown.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "scenarios/explain_story.hpp"

namespace ringside {

// Elements [first, first + count): of one chunk, and of one fate in every step and on every rank.
struct ElementColumn {
  std::size_t first = 0;
  std::size_t count = 1;

  // "7", "250-499"
  std::string title() const;
};

// An element each while they are few, and otherwise chunks or parts of chunks.
std::vector<ElementColumn> columns_of(const Story& story);

}  // namespace ringside
