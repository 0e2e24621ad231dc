// Attention over ranks beside attention in one process, on given queries, keys and values.
#pragma once

#include <algorithm>
#include <vector>

#include "models/random.hpp"
#include "models/whole_attention.hpp"
#include "parallel/context/ring_attention.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {

// Rows of whole samples, in f64; made of (what, row, column) alone, so that a rank can make its
// own.
struct Rows {
  std::size_t width = 0;
  std::vector<double> elements{};

  std::size_t rows() const { return elements.size() / width; }
};

inline Rows made_rows(std::size_t rows, std::size_t width, std::uint64_t seed) {
  Rows made{.width = width};
  for (std::size_t i = 0; i < rows * width; ++i) {
    made.elements.push_back(uniform(mix(seed * 1'000'003 + i)));
  }
  return made;
}

struct AttentionCase {
  std::vector<std::size_t> lengths{16};
  Heads heads{.queries = 4, .kv = 1, .dim = 4};
  ContextLayout layout = ContextLayout::zigzag;

  std::size_t tokens() const {
    std::size_t sum = 0;
    for (const std::size_t length : lengths) {
      sum += length;
    }
    return sum;
  }

  Rows q() const { return made_rows(tokens(), heads.queries * heads.dim, 1); }

  Rows k() const { return made_rows(tokens(), heads.kv * heads.dim, 2); }

  Rows v() const { return made_rows(tokens(), heads.kv * heads.dim, 3); }

  Rows grad_out() const { return made_rows(tokens(), heads.queries * heads.dim, 4); }
};

// What attention gives for whole samples, and the gradients by what it was given.
struct AttentionSeen {
  Rows out;
  Rows q;
  Rows k;
  Rows v;
};

template <class T>
Tensor tensor_of(DeviceMemory& memory, const Rows& rows) {
  Tensor made(memory, dtype_of<T>(), {rows.rows(), rows.width}, Category::activations, "rows");
  std::ranges::transform(rows.elements, made.as<T>().begin(),
                         [](double x) { return static_cast<T>(x); });
  return made;
}

template <class T>
Rows rows_of(const Tensor& tensor) {
  const auto elements = tensor.as<T>();
  return {tensor.shape().back(), {elements.begin(), elements.end()}};
}

template <class T>
AttentionSeen alone(const AttentionCase& c, const Rows& q, const Rows& k, const Rows& v) {
  DeviceMemory memory(std::size_t{64} << 20);
  ComputeClock clock;
  WholeAttention<T> attention({memory, clock});
  const auto sequences = make_sequences(c.lengths);
  const AttentionCall call{"attention", c.heads, *sequences};
  std::vector<Tensor> kept;
  const Tensor out = attention.forward(call, tensor_of<T>(memory, q), tensor_of<T>(memory, k),
                                       tensor_of<T>(memory, v), kept);
  const auto grad = attention.backward(call, out, tensor_of<T>(memory, c.grad_out()), kept);
  return {rows_of<T>(out), rows_of<T>(grad.q), rows_of<T>(grad.k), rows_of<T>(grad.v)};
}

template <class T>
AttentionSeen alone(const AttentionCase& c) {
  return alone<T>(c, c.q(), c.k(), c.v());
}

// The rows of a rank, those of padding being `padding`.
inline Rows rows_of_rank(const AttentionCase& c, const Rows& whole, const TokenBlocks& blocks,
                         int rank, double padding = 0) {
  Rows mine{.width = whole.width};
  std::size_t start = 0;
  for (const std::size_t length : c.lengths) {
    for (const std::int32_t place : blocks.places(std::vector{length}, rank)) {
      const auto at = static_cast<std::size_t>(place);
      for (std::size_t col = 0; col < whole.width; ++col) {
        mine.elements.push_back(at < length ? whole.elements[(start + at) * whole.width + col]
                                            : padding);
      }
    }
    start += length;
  }
  return mine;
}

// The ranks' rows as those of whole samples; the rows of padding must be 0.
inline Rows whole_of_ranks(const AttentionCase& c, const std::vector<std::vector<double>>& of_rank,
                           const TokenBlocks& blocks, std::size_t width) {
  Rows whole{.width = width, .elements = std::vector<double>(c.tokens() * width)};
  for (int rank = 0; rank < blocks.ranks(); ++rank) {
    auto from = of_rank[static_cast<std::size_t>(rank)].begin();
    std::size_t start = 0;
    for (const std::size_t length : c.lengths) {
      for (const std::int32_t place : blocks.places(std::vector{length}, rank)) {
        const auto at = static_cast<std::size_t>(place);
        for (std::size_t col = 0; col < width; ++col, ++from) {
          if (at < length) {
            whole.elements[(start + at) * width + col] = *from;
          } else {
            EXPECT_EQ(*from, 0) << "padding at place " << place << " of rank " << rank;
          }
        }
      }
      start += length;
    }
  }
  return whole;
}

inline Sequences sequences_of_rank(const AttentionCase& c, const TokenBlocks& blocks, int rank) {
  Sequences sequences{.positions = blocks.places(c.lengths, rank), .whole = c.lengths};
  for (const std::size_t length : c.lengths) {
    sequences.lengths.push_back(blocks.rows(length));
  }
  return sequences;
}

using MakeAttention = std::function<std::shared_ptr<CausalAttention>(Rank&, const TokenBlocks&)>;

inline MakeAttention ring(Fault fault = Fault::none, Mask mask = Mask::causal) {
  return [=](Rank& rank, const TokenBlocks& blocks) {
    return make_ring_attention(rank.world(), {rank.memory(), rank.clock()}, blocks,
                               {.mask = mask, .fault = fault});
  };
}

// `garbage` stands in the rows of padding, which nothing may depend on.
template <class T>
AttentionSeen over_ranks(const AttentionCase& c, int ranks, const MakeAttention& make,
                         const Rows& q, const Rows& k, const Rows& v, Ranks as = Ranks::processes,
                         double garbage = 7) {
  const TokenBlocks blocks(c.layout, ranks);
  JobOptions job = small_job(as);
  job.region_bytes = std::size_t{16} << 20;
  const auto parts = run_ranks_tested(ranks, job, [&](Rank& rank) {
    const auto attention = make(rank, blocks);
    const Sequences sequences = sequences_of_rank(c, blocks, rank.id());
    const AttentionCall call{"attention", c.heads, sequences};
    const auto mine = [&](const Rows& whole, double padding) {
      return tensor_of<T>(rank.memory(), rows_of_rank(c, whole, blocks, rank.id(), padding));
    };
    std::vector<Tensor> kept;
    const Tensor out =
        attention->forward(call, mine(q, garbage), mine(k, garbage), mine(v, garbage), kept);
    const auto grad = attention->backward(call, out, mine(c.grad_out(), 0), kept);
    std::vector<double> all;  // one after the other, as it travels
    for (const Tensor& tensor : {out, grad.q, grad.k, grad.v}) {
      const Rows rows = rows_of<T>(tensor);
      all.insert(all.end(), rows.elements.begin(), rows.elements.end());
    }
    return all;
  });
  const std::size_t rows = sequences_of_rank(c, blocks, 0).positions.size();
  std::size_t first = 0;
  const auto whole = [&](std::size_t width) {
    std::vector<std::vector<double>> of_rank;
    for (const auto& part : parts) {
      const auto from = part.begin() + static_cast<std::ptrdiff_t>(first);
      of_rank.emplace_back(from, from + static_cast<std::ptrdiff_t>(rows * width));
    }
    first += rows * width;
    return whole_of_ranks(c, of_rank, blocks, width);
  };
  return {whole(q.width), whole(q.width), whole(k.width), whole(v.width)};
}

template <class T>
AttentionSeen over_ranks(const AttentionCase& c, int ranks, const MakeAttention& make = ring()) {
  return over_ranks<T>(c, ranks, make, c.q(), c.k(), c.v());
}

// The largest |a - b|, over the largest |a|.
inline double off(const Rows& a, const Rows& b) {
  EXPECT_EQ(a.elements.size(), b.elements.size());
  double difference = 0;
  double largest = 0;
  for (std::size_t i = 0; i < a.elements.size(); ++i) {
    difference = std::max(difference, std::abs(a.elements[i] - b.elements.at(i)));
    largest = std::max(largest, std::abs(a.elements[i]));
  }
  return largest == 0 ? difference : difference / largest;
}

inline double off(const AttentionSeen& a, const AttentionSeen& b) {
  return std::max({off(a.out, b.out), off(a.q, b.q), off(a.k, b.k), off(a.v, b.v)});
}

}  // namespace ringside
