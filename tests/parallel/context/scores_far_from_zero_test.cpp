// Attention whose scores are far from 0 and close to each other: in f32 as exact as the weights,
// which depend on differences of scores only. Judged by the same whole numbers in f64.
#include <gtest/gtest.h>

#include <cmath>

#include "parallel/context/ulysses_attention.hpp"
#include "tests/parallel/context/attention_cases.hpp"

namespace ringside {
namespace {

// dim 8, so that the scale is no power of two. Queries are 1 in column 0 and in column 1; keys have
// the score there, and a whole number of 0 to `spread`: every product is exact in f32.
struct FarScores {
  AttentionCase c{.lengths = {16, 7}, .heads = {.queries = 4, .kv = 2, .dim = 8}};
  Rows q = c.q();
  Rows k = c.k();

  FarScores(double score, std::size_t spread) {
    for (std::size_t i = 0; i < q.elements.size(); ++i) {
      q.elements[i] = i % 8 < 2 ? 1 : 0;
    }
    for (std::size_t i = 0; i < k.elements.size(); ++i) {
      const auto step = static_cast<double>(i / 8 % (spread + 1));
      k.elements[i] = i % 8 == 0 ? std::round(score * std::sqrt(8.0)) : i % 8 == 1 ? step : 0;
    }
  }

  AttentionSeen truth() const { return alone<double>(c, q, k, c.v()); }
};

constexpr double in_f32 = 1e-6;

TEST(ScoresFarFromZero, RingAttentionIsAsExactAsItIsNearZero) {
  for (const double score : {-1e3, -1e4, -6e4, 6e4}) {
    for (const std::size_t spread : {0UL, 5UL}) {
      const FarScores far(score, spread);
      for (const int ranks : {1, 2, 4}) {
        const auto seen = over_ranks<float>(far.c, ranks, ring(), far.q, far.k, far.c.v());
        const auto truth = far.truth();
        EXPECT_LT(off(truth.out, seen.out), in_f32) << score << ", forward";
        EXPECT_LT(off(truth.v, seen.v), in_f32) << score << ", gradient of the values";
        // Keys of 170,000 leave the sum over keys of the gradient of scores, which is 0, its
        // rounding.
        EXPECT_LT(off(truth.k, seen.k), 4 * in_f32) << score << ", gradient of the keys";
      }
    }
  }
}

TEST(ScoresFarFromZero, PlainAndUlyssesAttentionAreAsExact) {
  const auto ulysses = [](Rank& rank, const TokenBlocks& blocks) {
    const Device device{rank.memory(), rank.clock()};
    return make_ulysses_attention(rank.world(), rank.memory(), blocks,
                                  {.inside = std::make_shared<WholeAttention<float>>(device)});
  };
  for (const double score : {-1e4, -6e4}) {
    const FarScores far(score, 5);
    const auto truth = far.truth();
    for (const auto& seen : {alone<float>(far.c, far.q, far.k, far.c.v()),
                             over_ranks<float>(far.c, 2, ulysses, far.q, far.k, far.c.v())}) {
      EXPECT_LT(off(truth.out, seen.out), in_f32) << score;
      EXPECT_LT(off(truth.v, seen.v), in_f32) << score;
      EXPECT_LT(off(truth.k, seen.k), 4 * in_f32) << score;
    }
  }
}

}  // namespace
}  // namespace ringside
