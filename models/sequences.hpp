// The samples that the rows of a micro-batch belong to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace ringside {

// Rows are the tokens of consecutive samples: of lengths[0] tokens, then lengths[1], ...
struct Sequences {
  std::vector<std::size_t> lengths{};
  std::vector<std::int32_t> positions{};  // of each row in its sample, from 0
  // Tokens of each sample, where a rank has a part of it only (context parallelism); else empty.
  std::vector<std::size_t> whole{};
};

std::shared_ptr<const Sequences> make_sequences(std::vector<std::size_t> lengths);

}  // namespace ringside
