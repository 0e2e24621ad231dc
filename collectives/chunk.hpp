// Chunk arithmetic: how n elements are cut over p ranks. It lives here and nowhere else.
//
// The first n mod p chunks have one element more; with n < p the last ones are empty.
#pragma once

#include <cstddef>

#include "runtime/buffer.hpp"
#include "runtime/comm.hpp"

namespace ringside {

struct Chunk {
  std::size_t first = 0;
  std::size_t count = 0;
};

// Chunk `index`, taken modulo p (negative too), of n elements.
constexpr Chunk chunk_of(std::size_t n, int p, int index) {
  const auto ranks = static_cast<std::size_t>(p);
  const auto i = static_cast<std::size_t>(((index % p) + p) % p);
  const std::size_t base = n / ranks;
  const std::size_t longer = n % ranks;
  return {i * base + (i < longer ? i : longer), base + (i < longer ? 1 : 0)};
}

// The same, of a buffer over the ranks of a group.
inline Buffer chunk(Buffer data, const Comm& comm, int index) {
  const auto c = chunk_of(data.count, comm.size(), index);
  Buffer piece = data.slice(c.first, c.count);
  piece.chunk = ((index % comm.size()) + comm.size()) % comm.size();
  return piece;
}

}  // namespace ringside
