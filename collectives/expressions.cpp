#include "collectives/expressions.hpp"

#include <algorithm>

#include "runtime/reduce.hpp"

namespace ringside {

namespace {

std::string_view sign(ReduceOp op) {
  switch (op) {
    case ReduceOp::prod:
      return " * ";
    case ReduceOp::min:
      return " min ";
    case ReduceOp::max:
      return " max ";
    default:
      return " + ";
  }
}

}  // namespace

std::vector<Symbol> Expressions::leaves(Symbol symbol) const {
  std::vector<Symbol> found;
  std::vector<Symbol> open{symbol};
  while (!open.empty()) {
    const Symbol next = open.back();
    open.pop_back();
    if (next.nothing() || next.is_leaf()) {
      found.push_back(next);
      continue;
    }
    const SymbolNode& inner = node(next);
    open.push_back(inner.left);
    if (inner.divisor == 0) {
      open.push_back(inner.right);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool Expressions::divides(Symbol symbol) const {
  if (symbol.nothing() || symbol.is_leaf()) {
    return false;
  }
  const SymbolNode& inner = node(symbol);
  return inner.divisor > 0 || divides(inner.left) || divides(inner.right);
}

std::optional<Symbol> Expressions::other_than(Symbol symbol, ReduceOp op) const {
  if (symbol.nothing() || symbol.is_leaf()) {
    return std::nullopt;
  }
  const SymbolNode& inner = node(symbol);
  if (const auto deeper = other_than(inner.left, op)) {
    return deeper;
  }
  if (inner.divisor > 0) {
    return std::nullopt;
  }
  const auto deeper = other_than(inner.right, op);
  return deeper || inner.op == op ? deeper : symbol;
}

int Expressions::canonical(Symbol symbol) {
  if (const auto seen = canonical_.find(symbol); seen != canonical_.end()) {
    return seen->second;
  }
  int id = next_;
  if (symbol.nothing() || symbol.is_leaf()) {
    ++next_;
  } else {
    const SymbolNode& inner = node(symbol);
    const int left = canonical(inner.left);
    const int right = inner.divisor == 0 ? canonical(inner.right) : -1;
    const auto [known, fresh] =
        known_.try_emplace({left, right, inner.divisor, inner.op, inner.rounded}, next_);
    next_ += fresh ? 1 : 0;
    id = known->second;
  }
  canonical_.emplace(symbol, id);
  return id;
}

void Expressions::write(Symbol symbol, std::size_t index, std::size_t longest,
                        std::string& text) const {
  if (text.size() > longest) {
    return;
  }
  if (symbol.nothing()) {
    text += "nothing";
  } else if (symbol.is_leaf()) {
    text += "r" + std::to_string(symbol.rank());
    if (symbol.index() != index) {
      text += "[" + std::to_string(symbol.index()) + "]";
    }
  } else if (const SymbolNode& inner = node(symbol); inner.divisor > 0) {
    write(inner.left, index, longest, text);
    text += " / " + std::to_string(inner.divisor);
  } else {
    text += "(";
    write(inner.left, index, longest, text);
    text += sign(inner.op);
    write(inner.right, index, longest, text);
    text += ")";
  }
}

std::string Expressions::text(Symbol symbol, std::size_t index, std::size_t longest) const {
  std::string text;
  write(symbol, index, longest, text);
  return text.size() > longest ? text.substr(0, longest) + " …" : text;
}

template <class T>
T Expressions::evaluate(Symbol symbol, const std::function<T(int, std::size_t)>& value,
                        const std::function<T(T)>& round) const {
  if (symbol.nothing()) {
    return T(0);
  }
  if (symbol.is_leaf()) {
    return value(symbol.rank(), symbol.index());
  }
  const SymbolNode& inner = node(symbol);
  T left = evaluate(inner.left, value, round);
  if (inner.divisor > 0) {
    left /= static_cast<T>(inner.divisor);
  } else {
    T right = evaluate(inner.right, value, round);
    reduce(buffer_of(std::span(&left, 1)), buffer_of(std::span(&right, 1)), inner.op);
    left = right;
  }
  return inner.rounded && round ? round(left) : left;
}

template float Expressions::evaluate(Symbol, const std::function<float(int, std::size_t)>&,
                                     const std::function<float(float)>&) const;
template double Expressions::evaluate(Symbol, const std::function<double(int, std::size_t)>&,
                                      const std::function<double(double)>&) const;

}  // namespace ringside
