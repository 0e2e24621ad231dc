// The expressions that ranks have computed on symbols, read together after the run.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "runtime/symbol.hpp"

namespace ringside {

class Expressions {
 public:
  // The tables of all ranks.
  explicit Expressions(std::vector<std::vector<SymbolNode>> tables) : tables_(std::move(tables)) {}

  const SymbolNode& node(Symbol symbol) const {
    return tables_[static_cast<std::size_t>(symbol.rank())][symbol.index()];
  }

  // The leaves, each as often as it is in, in ascending order. Memory that nobody has written is a
  // leaf `Symbol{}`.
  std::vector<Symbol> leaves(Symbol symbol) const;

  // Whether an average's division is in it.
  bool divides(Symbol symbol) const;

  // A node, the deepest on the left first, that does not compute with `op`; nothing when all do.
  // Divisions aside. An average's nodes are sums.
  std::optional<Symbol> other_than(Symbol symbol, ReduceOp op) const;

  // Equal for equal expressions, whoever computed them: two ranks that hold equal ones hold equal
  // bits.
  int canonical(Symbol symbol);

  // "((r2 + r3) + r0)"; leaves whose element is not `index` name it: "r2[7]". Cut when long.
  std::string text(Symbol symbol, std::size_t index, std::size_t longest = 160) const;

  // The value in one process, in the very order of the expression. `value` gives an element of a
  // rank's input; both are in the type that the operation computes in.
  // `round` is what a rounded node does to its value (bf16, f16); nothing for other types.
  template <class T>
  T evaluate(Symbol symbol, const std::function<T(int rank, std::size_t index)>& value,
             const std::function<T(T)>& round) const;

 private:
  using Key = std::tuple<int, int, std::uint32_t, ReduceOp, bool>;

  void write(Symbol symbol, std::size_t index, std::size_t longest, std::string& text) const;

  std::vector<std::vector<SymbolNode>> tables_;
  std::map<Symbol, int> canonical_;
  std::map<Key, int> known_;
  int next_ = 0;
};

extern template float Expressions::evaluate(Symbol, const std::function<float(int, std::size_t)>&,
                                            const std::function<float(float)>&) const;
extern template double Expressions::evaluate(Symbol, const std::function<double(int, std::size_t)>&,
                                             const std::function<double(double)>&) const;

}  // namespace ringside
