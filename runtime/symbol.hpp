// Symbols: elements that are expressions instead of numbers.
//
// An algorithm that runs on symbols, unchanged, ends with the expressions that it computes: which
// rank's elements, added in which order. A symbol is a leaf (element `index` of what `rank` gave)
// or the node of a reduction, kept in the table of the rank that computed it. Tables are private to
// their rank while it runs, so there is no lock, and are read together afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/buffer.hpp"

namespace ringside {

struct Symbol {
  std::uint64_t bits = 0;  // zero: memory that nobody has written

  static Symbol leaf(int rank, std::size_t index) { return {leaf_bit | packed(rank, index)}; }

  static Symbol node(int rank, std::size_t index) { return {packed(rank, index + 1)}; }

  bool nothing() const { return bits == 0; }

  bool is_leaf() const { return (bits & leaf_bit) != 0; }

  int rank() const { return static_cast<int>((bits & ~leaf_bit) >> index_bits); }

  std::size_t index() const { return (bits & index_mask) - (is_leaf() ? 0 : 1); }

  auto operator<=>(const Symbol&) const = default;

 private:
  static constexpr int index_bits = 44;
  static constexpr std::uint64_t index_mask = (std::uint64_t{1} << index_bits) - 1;
  static constexpr std::uint64_t leaf_bit = std::uint64_t{1} << 63;

  static std::uint64_t packed(int rank, std::size_t index) {
    return static_cast<std::uint64_t>(rank) << index_bits | index;
  }
};

struct SymbolNode {
  Symbol left;
  Symbol right;               // nothing: the division of an average
  std::uint32_t divisor = 0;  // of an average
  std::int16_t step = 0;      // of the operation, in which it was computed
  ReduceOp op = ReduceOp::sum;
  bool rounded = true;  // to the element type; inside a fused reduction only the last node is
};

// Where, and in which step, a rank computes.
struct SymbolPlace {
  int rank = 0;
  int step = 0;
};

class SymbolTable {
 public:
  // into = op(left, right) for every element; an average is a sum here.
  void combine(Buffer left, Buffer right, Buffer into, ReduceOp op, SymbolPlace at,
               bool rounded = true);
  void divide(Buffer into, int divisor, SymbolPlace at);

  const std::vector<SymbolNode>& nodes() const { return nodes_; }

 private:
  std::vector<SymbolNode> nodes_;
};

}  // namespace ringside
