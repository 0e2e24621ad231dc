#include "parallel/expert/token_places.hpp"

#include <gtest/gtest.h>

namespace ringside {
namespace {

// {row, count, place} of each run.
using Runs = std::vector<std::vector<std::size_t>>;

Runs seen(const std::vector<TokenRun>& runs) {
  Runs all;
  for (const TokenRun& run : runs) {
    all.push_back({run.row, run.count, run.place});
  }
  return all;
}

// Samples of 5 and 3 tokens over two ranks: zig-zag cuts each into four blocks, of 2 rows and of 1.
Sequences of_samples(std::size_t rows) {
  Sequences sequences{.whole = {5, 3}};
  sequences.positions.resize(rows);
  return sequences;
}

TEST(TokenPlaces, WithoutCutsAllRowsAreOneRun) {
  EXPECT_EQ(seen(TokenPlaces{}.of(8, nullptr)), (Runs{{0, 8, 0}}));
}

TEST(TokenPlaces, OfZigZagAreThoseOfBothEndsOfEachSample) {
  const TokenBlocks blocks(ContextLayout::zigzag, 2);
  const auto sequences = of_samples(6);
  EXPECT_EQ(seen(TokenPlaces{.blocks = blocks, .block_rank = 0}.of(6, &sequences)),
            (Runs{{0, 2, 0}, {2, 0, 6}, {4, 1, 5}, {5, 0, 8}}));
  EXPECT_EQ(seen(TokenPlaces{.blocks = blocks, .block_rank = 1}.of(6, &sequences)),
            (Runs{{0, 2, 2}, {2, 1, 4}, {4, 1, 6}, {5, 1, 7}}));
}

TEST(TokenPlaces, OfSequenceParallelismAreASlice) {
  const TokenBlocks blocks(ContextLayout::zigzag, 2);
  const auto sequences = of_samples(6);
  TokenPlaces places{.blocks = blocks, .block_rank = 1, .cut = {1, 2}};
  EXPECT_EQ(seen(places.of(3, &sequences)), (Runs{{0, 0, 5}, {0, 0, 5}, {1, 1, 6}, {2, 1, 7}}));
  Sequences whole;
  whole.positions.resize(5);  // 6 rows, one of them padding
  EXPECT_EQ(seen(TokenPlaces{.cut = {1, 2}}.of(3, &whole)), (Runs{{0, 2, 3}}));
}

}  // namespace
}  // namespace ringside
