#include "parallel/context/head_exchange.hpp"

#include <optional>

#include "collectives/all_to_all.hpp"
#include "models/matrix.hpp"

namespace ringside {

namespace {

// Of each row of a rank, where its token is among all tokens of all samples; none: padding.
std::vector<std::optional<std::size_t>> tokens_of(const TokenBlocks& blocks,
                                                  const std::vector<std::size_t>& lengths,
                                                  int rank) {
  std::vector<std::optional<std::size_t>> tokens;
  std::size_t start = 0;
  for (const std::size_t length : lengths) {
    for (const TokenBlock& block : blocks.of(length, rank)) {
      for (std::size_t i = 0; i < block.rows; ++i) {
        tokens.push_back(i < block.tokens ? std::optional(start + block.first + i) : std::nullopt);
      }
    }
    start += length;
  }
  return tokens;
}

std::size_t sum(const std::vector<std::size_t>& lengths) {
  std::size_t all = 0;
  for (const std::size_t length : lengths) {
    all += length;
  }
  return all;
}

template <class Fn>
void with_type(const Tensor& like, Fn fn) {
  if (like.meta()) {
    return;
  }
  if (like.dtype() == DType::f64) {
    fn(double());
  } else {
    fn(float());
  }
}

}  // namespace

Tensor HeadExchange::buffer(const Tensor& like, std::size_t rows, std::size_t columns,
                            std::string_view label) const {
  return {memory_, like.dtype(), {rows, columns}, Category::buffers, std::string(label) + ".heads"};
}

// Part j of `out` goes to rank j; part i of what is returned is rank i's.
Tensor HeadExchange::exchange(const Tensor& out, std::string_view label) const {
  Tensor in = buffer(out, out.shape().front(), out.shape().back(), label);
  all_to_all(group_, out.buffer(), in.buffer(), {algorithm_, label});
  return in;
}

Tensor HeadExchange::to_heads(const Tensor& x, const std::vector<Share>& of_rank,
                              const Sequences& sequences, std::string_view label,
                              LostPart lost) const {
  const std::size_t rows = x.shape().front();
  const std::size_t columns = of_rank.front().count;
  const Tensor out = buffer(x, of_rank.size() * rows, columns, label);
  with_type(x, [&](auto type) {
    using T = decltype(type);
    for (std::size_t j = 0; j < of_rank.size(); ++j) {
      block<T>(out, {j * rows, rows, 0, columns}) =
          block<T>(x, {0, rows, of_rank[j].first, columns});
    }
  });
  const Tensor in = exchange(out, label);
  Tensor whole(memory_, x.dtype(), {sum(sequences.whole), columns}, Category::activations,
               std::string(label) + ".whole");
  with_type(x, [&](auto type) {
    using T = decltype(type);
    for (int rank = 0; rank < group_.size(); ++rank) {
      const auto tokens = tokens_of(blocks_, sequences.whole, rank);
      for (std::size_t i = 0; i < rows; ++i) {
        if (tokens[i] && !(lost.rank == group_.rank() && lost.from == rank)) {
          block<T>(whole, {*tokens[i], 1, 0, columns}) =
              block<T>(in, {static_cast<std::size_t>(rank) * rows + i, 1, 0, columns});
        }
      }
    }
  });
  return whole;
}

Tensor HeadExchange::to_tokens(const Tensor& y, const std::vector<Share>& of_rank,
                               std::size_t width, const Sequences& sequences,
                               std::string_view label, LostPart lost) const {
  const std::size_t rows = sequences.positions.size();
  const std::size_t columns = of_rank.front().count;
  const Tensor out = buffer(y, of_rank.size() * rows, columns, label);
  with_type(y, [&](auto type) {
    using T = decltype(type);
    for (int rank = 0; rank < group_.size(); ++rank) {
      const auto tokens = tokens_of(blocks_, sequences.whole, rank);
      for (std::size_t i = 0; i < rows; ++i) {
        if (tokens[i]) {
          block<T>(out, {static_cast<std::size_t>(rank) * rows + i, 1, 0, columns}) =
              block<T>(y, {*tokens[i], 1, 0, columns});
        }
      }
    }
  });
  const Tensor in = exchange(out, label);
  Tensor x(memory_, y.dtype(), {rows, width}, Category::activations, std::string(label) + ".rows");
  with_type(y, [&](auto type) {
    using T = decltype(type);
    for (std::size_t j = 0; j < of_rank.size(); ++j) {
      if (!(lost.rank == group_.rank() && lost.from == static_cast<int>(j))) {
        block<T>(x, {0, rows, of_rank[j].first, columns}) +=
            block<T>(in, {j * rows, rows, 0, columns});
      }
    }
  });
  return x;
}

}  // namespace ringside
