#include "runtime/symbol.hpp"

namespace ringside {

void SymbolTable::combine(Buffer left, Buffer right, Buffer into, ReduceOp op, SymbolPlace at,
                          bool rounded) {
  const auto a = left.as<Symbol>();
  const auto b = right.as<Symbol>();
  const auto result = into.as<Symbol>();
  for (std::size_t i = 0; i < result.size(); ++i) {
    nodes_.push_back({.left = a[i],
                      .right = b[i],
                      .step = static_cast<std::int16_t>(at.step),
                      .op = op == ReduceOp::avg ? ReduceOp::sum : op,
                      .rounded = rounded});
    result[i] = Symbol::node(at.rank, nodes_.size() - 1);
  }
}

void SymbolTable::divide(Buffer into, int divisor, SymbolPlace at) {
  for (Symbol& value : into.as<Symbol>()) {
    nodes_.push_back({.left = value,
                      .right = {},
                      .divisor = static_cast<std::uint32_t>(divisor),
                      .step = static_cast<std::int16_t>(at.step),
                      .op = ReduceOp::avg});
    value = Symbol::node(at.rank, nodes_.size() - 1);
  }
}

}  // namespace ringside
