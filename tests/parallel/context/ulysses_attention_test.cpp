// Ulysses against attention in one process: results, gradients, head limits, traffic.
#include "parallel/context/ulysses_attention.hpp"

#include <gtest/gtest.h>

#include "runtime/errors.hpp"
#include "tests/parallel/context/attention_cases.hpp"

namespace ringside {
namespace {

template <class T>
MakeAttention ulysses(Fault fault = Fault::none) {
  return [fault](Rank& rank, const TokenBlocks& blocks) -> std::shared_ptr<CausalAttention> {
    const Device device{rank.memory(), rank.clock()};
    return make_ulysses_attention(
        rank.world(), rank.memory(), blocks,
        {.inside = std::make_shared<WholeAttention<T>>(device), .fault = fault});
  };
}

TEST(UlyssesAttention, EqualsOneProcessWithHeadsDividedAndCopied) {
  for (const auto& [ranks, heads] :
       {std::pair{2, Heads{.queries = 4, .kv = 2, .dim = 2}},
        {4, {.queries = 8, .kv = 2, .dim = 2}},  // each KV head on two ranks
        {4, {.queries = 4, .kv = 1, .dim = 2}},  // one KV head, on all
        {3, {.queries = 3, .kv = 3, .dim = 4}},
        {8, {.queries = 8, .kv = 2, .dim = 2}},
        {1, {.queries = 4, .kv = 2, .dim = 2}}}) {
    for (const auto layout : {ContextLayout::contiguous, ContextLayout::zigzag}) {
      const AttentionCase c{.lengths = {16, 1, 0, 27}, .heads = heads, .layout = layout};
      EXPECT_LT(off(alone<double>(c), over_ranks<double>(c, ranks, ulysses<double>())), 1e-13)
          << ranks;
      EXPECT_LT(off(alone<float>(c), over_ranks<float>(c, ranks, ulysses<float>())), 1e-6) << ranks;
    }
  }
}

// One rank adds up what one process does: where no head is copied, the same bits.
TEST(UlyssesAttention, HasTheBitsOfOneProcessWhereNoHeadIsCopied) {
  const AttentionCase c{.lengths = {16, 7}, .heads = {.queries = 4, .kv = 2, .dim = 2}};
  EXPECT_EQ(off(alone<float>(c), over_ranks<float>(c, 2, ulysses<float>())), 0);
}

TEST(CaseJ1, UlyssesLeavesPaddingOut) {
  const AttentionCase c{.lengths = {7}, .heads = {.queries = 4, .kv = 2, .dim = 2}};
  EXPECT_LT(off(alone<float>(c), over_ranks<float>(c, 2, ulysses<float>())), 1e-6);
}

TEST(CaseJ4, UlyssesGradientsAreThoseOfOneProcessWithFourQueryHeadsAKvHead) {
  for (const int ranks : {2, 4}) {
    const AttentionCase c{.lengths = {16, 13}, .heads = {.queries = 8, .kv = 2, .dim = 4}};
    EXPECT_LT(off(alone<float>(c), over_ranks<float>(c, ranks, ulysses<float>())), 1e-5);
    EXPECT_LT(off(alone<double>(c), over_ranks<double>(c, ranks, ulysses<double>())), 1e-10);
  }
}

TEST(UlyssesAttentionControl, WhatIsLostIsCaught) {
  const AttentionCase c{.heads = {.queries = 4, .kv = 2, .dim = 2}};
  const auto truth = alone<double>(c);
  EXPECT_GT(off(truth.out, over_ranks<double>(c, 2, ulysses<double>(Fault::kv_hop_skipped)).out),
            1e-2);
  const auto lost = over_ranks<double>(c, 2, ulysses<double>(Fault::kv_gradient_lost));
  EXPECT_EQ(off(truth.out, lost.out), 0);
  EXPECT_GT(off(truth.k, lost.k), 1e-2);
}

std::string refusal(const Heads& heads, int ranks) {
  try {
    require_divisible_heads(heads, ranks);
  } catch (const BadUse& error) {
    return error.what();
  }
  return "";
}

TEST(CaseJ6, HeadsThatCannotBeDividedWithTheirKvHeadsAreRefused) {
  EXPECT_EQ(refusal({.queries = 28, .kv = 7}, 2),
            "kv_heads = 7 can neither be divided over 2 Ulysses ranks nor copied evenly: with "
            "heads = 28 and kv_heads = 7 the ranks may be 1, 7, 14, 28; the ring has no such "
            "limit");
  EXPECT_EQ(refusal({.queries = 12, .kv = 3}, 2),
            "kv_heads = 3 can neither be divided over 2 Ulysses ranks nor copied evenly: with "
            "heads = 12 and kv_heads = 3 the ranks may be 1, 3, 6, 12; the ring has no such limit");
}

// Nothing is padded: what is not refused has the real heads, and the result of one process.
TEST(CaseJ6, WhatIsAllowedHasTheResultOfOneProcess) {
  const AttentionCase of_28{.heads = {.queries = 28, .kv = 7, .dim = 2}};
  EXPECT_EQ(refusal(of_28.heads, 7), "");
  EXPECT_LT(off(alone<double>(of_28), over_ranks<double>(of_28, 7, ulysses<double>())), 1e-13);
  const AttentionCase of_12{.heads = {.queries = 12, .kv = 3, .dim = 2}};
  EXPECT_LT(off(alone<double>(of_12), over_ranks<double>(of_12, 6, ulysses<double>())), 1e-13);
  // The ring cuts no heads.
  EXPECT_LT(off(alone<double>(of_28), over_ranks<double>(of_28, 2)), 1e-12);
}

TEST(CaseM8, TwentyEightHeadsOnEightRanksAreRefusedWithTheRanksThatWouldDo) {
  EXPECT_EQ(refusal({.queries = 28, .kv = 28}, 8),
            "heads = 28 cannot be divided over 8 Ulysses ranks: with heads = 28 and kv_heads = 28 "
            "the ranks may be 1, 2, 4, 7, 14, 28; the ring has no such limit");
  for (const int ranks : {1, 2, 4, 7, 14, 28}) {
    EXPECT_EQ(refusal({.queries = 28, .kv = 28}, ranks), "");
  }
}

// The run refuses what the function does, before anything is sent.
TEST(CaseM8, TheRunRefusesTheSame) {
  const AttentionCase c{.heads = {.queries = 4, .kv = 4, .dim = 2}};
  const TokenBlocks blocks(c.layout, 3);
  run_ranks_tested(3, small_job(), [&](Rank& rank) {
    const auto attention = ulysses<double>()(rank, blocks);
    const Sequences sequences = sequences_of_rank(c, blocks, rank.id());
    const Tensor rows = tensor_of<double>(rank.memory(), rows_of_rank(c, c.q(), blocks, rank.id()));
    std::vector<Tensor> kept;
    EXPECT_THROW(attention->forward({"attention", c.heads, sequences}, rows, rows, rows, kept),
                 BadUse);
    EXPECT_TRUE(rank.traffic().sums().empty());
    return 0;
  });
}

struct Sent {
  std::int64_t forward = 0;
  std::int64_t backward = 0;
  std::int64_t head_pairs = 0;
};

TEST(UlyssesAttention, SendsWhatTheFormulaSaysAndCountsItsShareOfThePairs) {
  for (const auto& [ranks, kv] : {std::pair{1, 2UL}, {2, 2UL}, {4, 4UL}, {4, 2UL}, {8, 2UL}}) {
    const AttentionCase c{.lengths = {16, 48}, .heads = {.queries = 8, .kv = kv, .dim = 4}};
    const TokenBlocks blocks(c.layout, ranks);
    const auto seen = run_ranks_tested(ranks, small_job(), [&](Rank& rank) {
      const Device device{rank.memory(), rank.clock()};
      const auto attention =
          make_ulysses_attention(rank.world(), rank.memory(), blocks,
                                 {.inside = std::make_shared<WholeAttention<float>>(device)});
      const Sequences sequences = sequences_of_rank(c, blocks, rank.id());
      const AttentionCall call{"attention", c.heads, sequences};
      const auto mine = [&](const Rows& whole) {
        return tensor_of<float>(rank.memory(), rows_of_rank(c, whole, blocks, rank.id()));
      };
      const auto sent = [&] {
        std::int64_t sum = 0;
        for (const TrafficSum& row : rank.traffic().sums()) {
          sum += row.sent_bytes;
        }
        return sum;
      };
      std::vector<Tensor> kept;
      const Tensor out = attention->forward(call, mine(c.q()), mine(c.k()), mine(c.v()), kept);
      const std::int64_t forward = sent();
      attention->backward(call, out, mine(c.grad_out()), kept);
      return Sent{forward, sent() - forward, attention->head_pairs()};
    });
    const auto kv_heads = std::max(static_cast<std::int64_t>(kv), std::int64_t{ranks});
    const std::int64_t formula =
        (ranks - 1) * (64 / ranks) * (2 * 8 + 2 * kv_heads) * 4 * 4 / ranks;
    for (const Sent& rank : seen) {
      EXPECT_EQ(rank.forward, formula) << ranks;
      EXPECT_EQ(rank.backward, formula) << ranks;
      EXPECT_EQ(rank.head_pairs, (16 * 17 / 2 + 48 * 49 / 2) * 8 / ranks);
    }
  }
}

TEST(CaseJ7, UlyssesLoadsAreEqualEvenWhereTokensAreContiguous) {
  const AttentionCase c{.heads = {.queries = 4, .kv = 4, .dim = 2},
                        .layout = ContextLayout::contiguous};
  const TokenBlocks blocks(c.layout, 4);
  const auto seen = run_ranks_tested(4, small_job(), [&](Rank& rank) {
    const Device device{rank.memory(), rank.clock()};
    const auto attention =
        make_ulysses_attention(rank.world(), rank.memory(), blocks,
                               {.inside = std::make_shared<WholeAttention<float>>(device)});
    const Sequences sequences = sequences_of_rank(c, blocks, rank.id());
    const auto mine = [&](const Rows& whole) {
      return tensor_of<float>(rank.memory(), rows_of_rank(c, whole, blocks, rank.id()));
    };
    std::vector<Tensor> kept;
    attention->forward({"attention", c.heads, sequences}, mine(c.q()), mine(c.k()), mine(c.v()),
                       kept);
    return attention->head_pairs();
  });
  EXPECT_EQ(seen, (std::vector<std::int64_t>{136, 136, 136, 136}));  // 34 times 4 heads
}

}  // namespace
}  // namespace ringside
