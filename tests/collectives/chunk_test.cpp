// Chunk arithmetic, by example and by property.
#include "collectives/chunk.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

namespace ringside {
namespace {

std::vector<std::size_t> counts_of(std::size_t n, int p) {
  std::vector<std::size_t> counts;
  for (int c = 0; c < p; ++c) {
    counts.push_back(chunk_of(n, p, c).count);
  }
  return counts;
}

TEST(Chunk, TheFirstOnesAreLonger) {
  EXPECT_EQ(counts_of(10, 4), (std::vector<std::size_t>{3, 3, 2, 2}));
  EXPECT_EQ(counts_of(8, 4), (std::vector<std::size_t>{2, 2, 2, 2}));
  EXPECT_EQ(counts_of(2, 4), (std::vector<std::size_t>{1, 1, 0, 0}));
  EXPECT_EQ(counts_of(0, 3), (std::vector<std::size_t>{0, 0, 0}));
  EXPECT_EQ(counts_of(5, 1), std::vector<std::size_t>{5});
}

TEST(Chunk, TheIndexGoesRound) {
  for (int c = 0; c < 4; ++c) {
    for (const int turns : {-2, -1, 1, 2}) {
      EXPECT_EQ(chunk_of(10, 4, c + 4 * turns).first, chunk_of(10, 4, c).first);
      EXPECT_EQ(chunk_of(10, 4, c + 4 * turns).count, chunk_of(10, 4, c).count);
    }
  }
}

// Back to back, nothing left over, at most one element between the longest and the shortest.
RC_GTEST_PROP(ChunkProperty, ChunksCoverEverythingOnce, ()) {
  const auto n = *rc::gen::inRange<std::size_t>(0, std::size_t{1} << 40);
  const auto p = *rc::gen::inRange(1, 300);
  std::size_t next = 0;
  for (int c = 0; c < p; ++c) {
    const Chunk piece = chunk_of(n, p, c);
    RC_ASSERT(piece.first == next);
    RC_ASSERT(piece.count == n / static_cast<std::size_t>(p) ||
              piece.count == n / static_cast<std::size_t>(p) + 1);
    next += piece.count;
  }
  RC_ASSERT(next == n);
  const auto counts = counts_of(n, p);
  RC_ASSERT(std::is_sorted(counts.rbegin(), counts.rend()));
}

}  // namespace
}  // namespace ringside
