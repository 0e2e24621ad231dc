// The order in which a collective adds the parts of its ranks, element by element: for one process
// that is to add them in the same order, alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "collectives/all_reduce.hpp"
#include "collectives/symbolic_run.hpp"

namespace ringside {

struct Bracketing {
  static constexpr int add = -1;  // op(the one before the last, the last)

  // In postfix: a rank stands for its part. Many elements share one.
  std::vector<std::vector<int>> programs{};
  std::vector<std::uint32_t> program_of{};  // by element
};

Bracketing in_rank_order(std::size_t elements, int ranks);

// The sum of an element whose part on each rank is parts[rank].
template <class T>
T sum_in_order(const std::vector<int>& program, std::span<const T> parts, std::vector<T>& stack) {
  stack.clear();
  for (const int word : program) {
    if (word != Bracketing::add) {
      stack.push_back(parts[static_cast<std::size_t>(word)]);
      continue;
    }
    const T last = stack.back();
    stack.pop_back();
    stack.back() = stack.back() + last;
  }
  return stack.back();
}

// The order of an all-reduce's own run on symbols. Where its expression has every rank's part once,
// that expression; elsewhere the order of the ranks, which is then counted in `incomplete`.
struct RunOrder {
  Bracketing order;
  std::size_t incomplete = 0;  // elements
  bool equal = true;           // whether all ranks hold the same expression everywhere
};

// All-reduce calls of that name, or of an algorithm that is in no table.
RunCall all_reduce_call(std::string_view algorithm, const AllReduce* planted = nullptr);

// Throws PeerLost with the reason when the run on symbols fails.
RunOrder order_of_run(const RunCall& all_reduce, int ranks, int gpus_per_node,
                      std::size_t elements);

}  // namespace ringside
