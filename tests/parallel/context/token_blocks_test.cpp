// Which tokens a rank has, and a rank's part of a batch.
#include "parallel/context/token_blocks.hpp"

#include <gtest/gtest.h>

#include <map>

#include "models/text.hpp"
#include "parallel/context/batch_part.hpp"
#include "runtime/errors.hpp"

namespace ringside {
namespace {

using Places = std::vector<std::int32_t>;

Places places(ContextLayout layout, int ranks, std::size_t length, int rank) {
  return TokenBlocks(layout, ranks).places(std::vector{length}, rank);
}

TEST(CaseJ1, APaddedSampleFallsOnTheRanksAsTheCaseSays) {
  EXPECT_EQ(places(ContextLayout::zigzag, 2, 7, 0), (Places{0, 1, 6, 7}));  // 7 is padding
  EXPECT_EQ(places(ContextLayout::zigzag, 2, 7, 1), (Places{2, 3, 4, 5}));
  const TokenBlocks blocks(ContextLayout::zigzag, 2);
  EXPECT_EQ(blocks.of(7, 0).back().tokens, 1U);
  EXPECT_EQ(blocks.of(7, 0).back().rows, 2U);
}

// Every token on one rank and once, every rank with as many rows.
TEST(CaseJ1, EveryTokenIsThereOnceWhateverTheLength) {
  for (const auto layout : {ContextLayout::contiguous, ContextLayout::zigzag}) {
    for (int ranks = 1; ranks <= 8; ++ranks) {
      for (std::size_t length = 0; length <= 40; ++length) {
        std::map<std::int32_t, int> seen;
        for (int rank = 0; rank < ranks; ++rank) {
          const auto mine = places(layout, ranks, length, rank);
          EXPECT_EQ(mine.size(), TokenBlocks(layout, ranks).rows(length));
          for (const std::int32_t place : mine) {
            ++seen[place];
          }
        }
        for (std::size_t place = 0; place < length; ++place) {
          ASSERT_EQ(seen[static_cast<std::int32_t>(place)], 1) << length << " over " << ranks;
        }
      }
    }
  }
}

TEST(CaseJ2, PositionsOfSixteenTokensOnFourRanks) {
  for (int r = 0; r < 4; ++r) {
    EXPECT_EQ(places(ContextLayout::zigzag, 4, 16, r),
              (Places{2 * r, 2 * r + 1, 14 - 2 * r, 15 - 2 * r}));
    EXPECT_EQ(places(ContextLayout::contiguous, 4, 16, r),
              (Places{4 * r, 4 * r + 1, 4 * r + 2, 4 * r + 3}));
  }
}

TEST(BatchPart, HasTheContextsTargetsAndPositionsOfItsTokens) {
  const DataSource source{.text = builtin_text(), .seed = 3, .sequence = 7, .context = 2};
  const Batch whole = make_batch(source, 1, 0, 3);
  const TokenBlocks blocks(ContextLayout::zigzag, 2);
  std::int64_t tokens = 0;
  for (int rank = 0; rank < 2; ++rank) {
    const Batch part = part_of(whole, blocks, rank);
    EXPECT_EQ(part.whole, whole.lengths);
    EXPECT_EQ(part.lengths, std::vector<std::size_t>(3, 4));
    tokens += part.tokens();
    for (std::size_t row = 0; row < part.targets.size(); ++row) {
      const auto place = static_cast<std::size_t>(part.positions[row]);
      const std::size_t at = row / 4 * 7 + place;
      if (place == 7) {
        EXPECT_EQ(part.targets[row], uncounted);
        EXPECT_EQ(part.contexts[2 * row], 0);
      } else {
        EXPECT_EQ(part.targets[row], whole.targets[at]);
        EXPECT_EQ(part.contexts[2 * row], whole.contexts[2 * at]);
        EXPECT_EQ(part.contexts[2 * row + 1], whole.contexts[2 * at + 1]);
      }
    }
  }
  EXPECT_EQ(tokens, whole.tokens());
}

TEST(TokenBlocks, RefusesWhatDoesNotExist) {
  EXPECT_THROW(parse_context_layout("striped"), BadUse);
  EXPECT_THROW(TokenBlocks(ContextLayout::zigzag, 0), BadUse);
}

}  // namespace
}  // namespace ringside
