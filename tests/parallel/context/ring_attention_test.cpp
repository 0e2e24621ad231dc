// Ring attention against attention in one process: results, gradients, pairs, traffic.
#include "parallel/context/ring_attention.hpp"

#include <gtest/gtest.h>

#include "models/elementary.hpp"
#include "models/rotary.hpp"
#include "runtime/errors.hpp"
#include "tests/parallel/context/attention_cases.hpp"

namespace ringside {
namespace {

constexpr std::array layouts{ContextLayout::contiguous, ContextLayout::zigzag};

TEST(CaseJ1, RealTokensAreThoseOfOneProcessAndPaddingIsZero) {
  for (const auto& [length, ranks] : {std::pair{7UL, 2}, {5UL, 4}, {8UL, 3}}) {
    for (const auto layout : layouts) {
      const AttentionCase c{.lengths = {length}, .layout = layout};
      EXPECT_LT(off(alone<float>(c), over_ranks<float>(c, ranks)), 1e-6) << length;
      EXPECT_LT(off(alone<double>(c), over_ranks<double>(c, ranks)), 1e-12) << length;
    }
  }
}

TEST(RingAttention, EqualsOneProcessOnTwoToEightRanks) {
  for (const int ranks : {1, 2, 3, 4, 8}) {
    for (const auto layout : layouts) {
      const AttentionCase c{
          .lengths = {16, 1, 0, 27}, .heads = {.queries = 4, .kv = 2, .dim = 2}, .layout = layout};
      EXPECT_LT(off(alone<double>(c), over_ranks<double>(c, ranks)), 1e-12) << ranks;
    }
  }
}

TEST(RingAttention, EqualsOneProcessOnThreads) {
  const AttentionCase c;
  EXPECT_LT(
      off(alone<double>(c), over_ranks<double>(c, 3, ring(), c.q(), c.k(), c.v(), Ranks::threads)),
      1e-12);
}

// Positions are turned into queries and keys before the core sees them.
Rows turned(const Rows& rows, std::size_t dim, std::int32_t from, std::int32_t modulo) {
  DeviceMemory memory(std::size_t{1} << 20);
  const Tensor tensor = tensor_of<double>(memory, rows);
  std::vector<std::int32_t> positions;
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    positions.push_back(from + static_cast<std::int32_t>(i) % modulo);
  }
  rotate<double>(tensor, dim, positions, 10'000, Turn::forward);
  return rows_of<double>(tensor);
}

TEST(CaseJ2, RotaryPositionsOfAShardGiveTheResultOfOneProcess) {
  for (const auto layout : layouts) {
    AttentionCase c{.layout = layout};
    for (const std::int32_t cache : {0, 5}) {
      const Rows q = turned(c.q(), c.heads.dim, cache, 16);
      const Rows k = turned(c.k(), c.heads.dim, cache, 16);
      EXPECT_LT(off(alone<double>(c, q, k, c.v()), over_ranks<double>(c, 4, ring(), q, k, c.v())),
                1e-12);
    }
  }
}

TEST(CaseJ2Control, PositionsThatBeginAgainOnEveryRankAreCaught) {
  const AttentionCase c{.layout = ContextLayout::contiguous};
  const auto truth =
      alone<double>(c, turned(c.q(), c.heads.dim, 0, 16), turned(c.k(), c.heads.dim, 0, 16), c.v());
  const auto reset = over_ranks<double>(c, 4, ring(), turned(c.q(), c.heads.dim, 0, 4),
                                        turned(c.k(), c.heads.dim, 0, 4), c.v());
  EXPECT_GT(off(truth, reset), 1e-2);
}

TEST(CaseJ4, GradientsAreThoseOfOneProcessWithFourQueryHeadsAKvHead) {
  for (const int ranks : {2, 4}) {
    for (const auto layout : layouts) {
      const AttentionCase c{
          .lengths = {16, 13}, .heads = {.queries = 8, .kv = 2, .dim = 4}, .layout = layout};
      EXPECT_LT(off(alone<float>(c), over_ranks<float>(c, ranks)), 1e-5);
      EXPECT_LT(off(alone<double>(c), over_ranks<double>(c, ranks)), 1e-10);
    }
  }
}

// Attention by its definition, one number after the other.
struct Definition {
  const AttentionCase& c;
  Rows q = c.q();
  Rows k = c.k();
  Rows v = c.v();

  // The weights of the keys that a token of the sample at `start` sees, of one head.
  std::vector<double> weights(std::size_t start, std::size_t token, std::size_t seen,
                              std::size_t head) const {
    std::vector<double> all(seen);
    double total = 0;
    for (std::size_t key = 0; key < seen; ++key) {
      for (std::size_t d = 0; d < c.heads.dim; ++d) {
        all[key] += at(q, start + token, head, d) * at(k, start + key, kv(head), d);
      }
      all[key] = exponential(all[key] / std::sqrt(static_cast<double>(c.heads.dim)));
      total += all[key];
    }
    for (double& weight : all) {
      weight /= total;
    }
    return all;
  }

  std::size_t kv(std::size_t head) const { return head / (c.heads.queries / c.heads.kv); }

  double at(const Rows& rows, std::size_t row, std::size_t head, std::size_t d) const {
    return rows.elements[row * rows.width + head * c.heads.dim + d];
  }

  double& at(Rows& rows, std::size_t row, std::size_t head, std::size_t d) const {
    return rows.elements[row * rows.width + head * c.heads.dim + d];
  }

  // Of one query and head.
  void add(std::size_t start, std::size_t token, std::size_t seen, std::size_t head,
           AttentionSeen& sum) const {
    const auto w = weights(start, token, seen, head);
    const Rows grad = c.grad_out();
    const double scale = 1 / std::sqrt(static_cast<double>(c.heads.dim));
    std::vector<double> d_weights(seen);
    double along = 0;
    for (std::size_t key = 0; key < seen; ++key) {
      for (std::size_t d = 0; d < c.heads.dim; ++d) {
        const double g = at(grad, start + token, head, d);
        at(sum.out, start + token, head, d) += w[key] * at(v, start + key, kv(head), d);
        at(sum.v, start + key, kv(head), d) += w[key] * g;
        d_weights[key] += g * at(v, start + key, kv(head), d);
      }
      along += w[key] * d_weights[key];
    }
    for (std::size_t key = 0; key < seen; ++key) {
      const double d_score = w[key] * (d_weights[key] - along) * scale;
      for (std::size_t d = 0; d < c.heads.dim; ++d) {
        at(sum.q, start + token, head, d) += d_score * at(k, start + key, kv(head), d);
        at(sum.k, start + key, kv(head), d) += d_score * at(q, start + token, head, d);
      }
    }
  }

  AttentionSeen seen(Mask mask) const {
    const auto zeros = [](const Rows& like) {
      return Rows{like.width, std::vector<double>(like.elements.size())};
    };
    AttentionSeen sum{zeros(q), zeros(q), zeros(k), zeros(v)};
    std::size_t start = 0;
    for (const std::size_t length : c.lengths) {
      for (std::size_t token = 0; token < length; ++token) {
        for (std::size_t head = 0; head < c.heads.queries; ++head) {
          add(start, token, mask == Mask::full ? length : token + 1, head, sum);
        }
      }
      start += length;
    }
    return sum;
  }
};

TEST(CaseJ4, CausalAndFullAttentionAreThoseOfTheDefinition) {
  for (const int ranks : {2, 4}) {
    for (const auto layout : layouts) {
      for (const Mask mask : {Mask::causal, Mask::full}) {
        const AttentionCase c{
            .lengths = {16, 13}, .heads = {.queries = 8, .kv = 2, .dim = 4}, .layout = layout};
        const auto truth = Definition{.c = c}.seen(mask);
        EXPECT_LT(off(truth, over_ranks<float>(c, ranks, ring(Fault::none, mask))), 1e-5);
        EXPECT_LT(off(truth, over_ranks<double>(c, ranks, ring(Fault::none, mask))), 1e-10);
      }
    }
  }
}

// By 20 random elements of each of q, k and v, of the sum of result times gradient.
TEST(CaseJ4, GradientsAreThoseOfFiniteDifferences) {
  const AttentionCase c{.lengths = {9}};
  const auto seen = over_ranks<double>(c, 4);
  const Rows weights = c.grad_out();
  std::vector<Rows> inputs{c.q(), c.k(), c.v()};
  const std::vector<Rows> gradients{seen.q, seen.k, seen.v};
  const auto objective = [&] {
    const Rows out = alone<double>(c, inputs[0], inputs[1], inputs[2]).out;
    double sum = 0;
    for (std::size_t i = 0; i < out.elements.size(); ++i) {
      sum += out.elements[i] * weights.elements[i];
    }
    return sum;
  };
  for (std::size_t which = 0; which < 3; ++which) {
    for (std::uint64_t n = 0; n < 20; ++n) {
      const std::size_t at = mix(100 * which + n) % inputs[which].elements.size();
      double& element = inputs[which].elements[at];
      const double value = element;
      constexpr double h = 1e-5;
      element = value + h;
      const double above = objective();
      element = value - h;
      const double below = objective();
      element = value;
      EXPECT_NEAR(gradients[which].elements[at], (above - below) / (2 * h), 1e-9)
          << "input " << which << ", element " << at;
    }
  }
}

TEST(RingAttentionControl, AHopThatIsSkippedIsCaught) {
  const AttentionCase c;
  EXPECT_GT(off(alone<double>(c).out, over_ranks<double>(c, 4, ring(Fault::kv_hop_skipped)).out),
            1e-2);
}

TEST(RingAttentionControl, AGradientThatIsLostIsCaught) {
  const AttentionCase c;
  const auto seen = over_ranks<double>(c, 4, ring(Fault::kv_gradient_lost));
  EXPECT_LT(off(alone<double>(c).out, seen.out), 1e-12);
  EXPECT_GT(off(alone<double>(c).k, seen.k), 1e-3);
  EXPECT_GT(off(alone<double>(c).v, seen.v), 1e-3);
}

// ---- pairs and time -----------------------------------------------------------------------------

struct Load {
  std::int64_t head_pairs = 0;
  Time computed{0};
};

// Of one forward pass: pairs counted, and time on the compute clock.
std::vector<Load> loads(ContextLayout layout, int ranks, std::size_t length,
                        Backing backing = Backing::real) {
  const AttentionCase c{
      .lengths = {length}, .heads = {.queries = 1, .kv = 1, .dim = 2}, .layout = layout};
  const TokenBlocks blocks(layout, ranks);
  JobOptions job = small_job();
  job.memory = backing;
  job.cluster.flops = Rate{1'000'000'000'000};  // an operation takes a picosecond
  return run_ranks_tested(ranks, job, [&](Rank& rank) {
    Load load;
    rank.clock().on_charge = [&](std::string_view, Time from, Time to) {
      load.computed += to - from;
    };
    const auto attention = make_ring_attention(rank.world(), {rank.memory(), rank.clock()}, blocks);
    const Sequences sequences = sequences_of_rank(c, blocks, rank.id());
    const Tensor rows(rank.memory(), DType::f32, {blocks.rows(length), 2}, Category::activations,
                      "rows");
    std::vector<Tensor> kept;
    attention->forward({"attention", c.heads, sequences}, rows, rows, rows, kept);
    load.head_pairs = attention->head_pairs();
    return load;
  });
}

std::vector<std::int64_t> pairs(const std::vector<Load>& loads) {
  std::vector<std::int64_t> all;
  for (const Load& load : loads) {
    all.push_back(load.head_pairs);
  }
  return all;
}

TEST(CaseJ7, ContiguousLoadsAre10To26To42To58) {
  const auto seen = loads(ContextLayout::contiguous, 4, 16);
  EXPECT_EQ(pairs(seen), (std::vector<std::int64_t>{10, 26, 42, 58}));
  for (const Load& load : seen) {
    EXPECT_EQ(load.computed.count(), 2 * 2 * 2 * load.head_pairs);  // two products, dim 2
  }
}

TEST(CaseJ7, ZigZagLoadsAre34Each) {
  const auto seen = loads(ContextLayout::zigzag, 4, 16);
  EXPECT_EQ(pairs(seen), (std::vector<std::int64_t>{34, 34, 34, 34}));
  for (const Load& load : seen) {
    EXPECT_EQ(load.computed.count(), 2 * 2 * 2 * 34);
  }
}

TEST(CaseJ7, MetaTensorsCountTheSame) {
  EXPECT_EQ(pairs(loads(ContextLayout::contiguous, 4, 16, Backing::meta)),
            (std::vector<std::int64_t>{10, 26, 42, 58}));
  const auto seen = pairs(loads(ContextLayout::zigzag, 8, 131072, Backing::meta));
  EXPECT_EQ(seen, std::vector<std::int64_t>(8, 131072LL * 131073 / 2 / 8));
}

// ---- traffic ------------------------------------------------------------------------------------

struct Sent {
  std::int64_t forward = 0;
  std::int64_t backward = 0;
};

TEST(RingAttention, SendsWhatTheFormulaSays) {
  const Heads heads{.queries = 4, .kv = 2, .dim = 4};
  for (const int ranks : {1, 2, 3, 4}) {
    const AttentionCase c{.lengths = {24, 48}, .heads = heads};
    const TokenBlocks blocks(c.layout, ranks);
    const auto bytes = run_ranks_tested(ranks, small_job(), [&](Rank& rank) {
      const auto attention = ring()(rank, blocks);
      const Sequences sequences = sequences_of_rank(c, blocks, rank.id());
      const AttentionCall call{"attention", c.heads, sequences};
      const auto mine = [&](const Rows& whole) {
        return tensor_of<float>(rank.memory(), rows_of_rank(c, whole, blocks, rank.id()));
      };
      const auto sent = [&] {
        std::int64_t sum = 0;
        for (const TrafficSum& row : rank.traffic().sums()) {
          sum += row.sent_bytes;
          EXPECT_EQ(row.sent_bytes, row.received_bytes);
          EXPECT_EQ(std::string_view(row.label), "attention");
        }
        return sum;
      };
      std::vector<Tensor> kept;
      const Tensor out = attention->forward(call, mine(c.q()), mine(c.k()), mine(c.v()), kept);
      const std::int64_t forward = sent();
      attention->backward(call, out, mine(c.grad_out()), kept);
      return Sent{forward, sent() - forward};
    });
    const std::int64_t block = 72 / ranks * 2 * 2 * 4 * 4;  // rows, K and V, KV heads, dim, f32
    for (const auto& [forward, backward] : bytes) {
      EXPECT_EQ(forward, (ranks - 1) * block);
      EXPECT_EQ(backward, ranks == 1 ? 0 : 2 * forward + block);
    }
  }
}

TEST(RingAttention, RefusesABatchThatIsNotCut) {
  const TokenBlocks blocks(ContextLayout::zigzag, 2);
  run_ranks_tested(2, small_job(), [&](Rank& rank) {
    const auto attention = ring()(rank, blocks);
    const Tensor rows(rank.memory(), DType::f32, {4, 4}, Category::activations, "rows");
    std::vector<Tensor> kept;
    const auto whole = make_sequences({4});
    const Heads heads{.dim = 4};
    EXPECT_THROW(attention->forward({"attention", heads, *whole}, rows, rows, rows, kept), BadUse);
    const Sequences wrong{.lengths = {4}, .positions = {0, 1, 2, 3}, .whole = {16}};
    EXPECT_THROW(attention->forward({"attention", heads, wrong}, rows, rows, rows, kept), BadUse);
    return 0;
  });
}

}  // namespace
}  // namespace ringside
