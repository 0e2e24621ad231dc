// Algorithms that need a power of two of ranks: the ranks too many hand their data to a neighbour
// first, and get the result from it at the end.
//
// With r ranks too many, the even ones of the first 2r fold into the odd ones; so numbers among
// those who take part rise with the ranks. (Thakur, Rabenseifner and Gropp 2005, section 4.5.)
#pragma once

#include <bit>

#include "collectives/algorithm.hpp"
#include "collectives/chunk.hpp"

namespace ringside {

struct PowerOfTwo {
  int count = 1;  // ranks that take part
  int extra = 0;  // ranks too many
  int mine = -1;  // my number among those who take part; -1: I fold

  // The group rank of a number.
  int real(int number) const { return number < extra ? 2 * number + 1 : number + extra; }

  // Doublings of the distance, or halvings.
  int doublings() const {
    return static_cast<int>(std::bit_width(static_cast<unsigned>(count))) - 1;
  }

  // Longest chain of messages, for one pass over the distances. From a folded rank to the farthest
  // one, which has a rank to unfold only where more than half of those who take part have one.
  int steps_doubling() const { return doublings() + (extra == 0 ? 0 : extra > count / 2 ? 2 : 1); }

  // For one pass each way, which comes back to where it started.
  int steps_halving() const { return 2 * doublings() + (extra == 0 ? 0 : 2); }

  // Elements sent: the whole buffer in each step; or halves of halves, and back.
  std::size_t sent_doubling(const Shape& s) const;
  std::size_t sent_halving(const Shape& s) const;
};

PowerOfTwo power_of_two(const Shape& shape);

// Folds, calls fn(PowerOfTwo) on the ranks that take part, and unfolds.
template <class Fn>
void with_power_of_two(Comm& comm, Buffer data, ReduceOp op, Fn&& fn) {
  const auto ranks = power_of_two({.p = comm.size(), .rank = comm.rank()});
  const bool paired = comm.rank() < 2 * ranks.extra;
  const int partner = comm.rank() ^ 1;
  if (ranks.extra > 0) {
    comm.next_step("fold");
  }
  if (ranks.mine < 0) {
    comm.send(partner, data);
  } else {
    if (paired) {
      comm.recv_reduce(partner, data, op);
    }
    fn(ranks);
  }
  if (ranks.extra > 0) {
    comm.next_step("unfold");
  }
  if (ranks.mine < 0) {
    comm.recv(partner, data);
  } else if (paired) {
    comm.send(partner, data);
  }
}

}  // namespace ringside
