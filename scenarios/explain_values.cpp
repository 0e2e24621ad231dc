#include "scenarios/explain_values.hpp"

#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <set>

namespace ringside {

namespace {

constexpr int most_digits = 6;          // ranks that get a decimal digit each
constexpr std::size_t most_parts = 4;   // of a sum that is written in full
constexpr std::size_t most_ranges = 3;  // of elements

// The leaves from left to right, and what an average divides by.
struct Flat {
  std::vector<Symbol> leaves{};
  std::uint32_t divisor = 0;
};

void flatten(const Expressions& expressions, Symbol symbol, Flat& flat) {
  if (symbol.nothing() || symbol.is_leaf()) {
    flat.leaves.push_back(symbol);
    return;
  }
  const SymbolNode& node = expressions.node(symbol);
  flatten(expressions, node.left, flat);
  if (node.divisor > 0) {
    flat.divisor = node.divisor;
  } else {
    flatten(expressions, node.right, flat);
  }
}

// Ranks that follow each other round the ring.
bool consecutive(const std::vector<Symbol>& leaves, int ranks) {
  for (std::size_t i = 1; i < leaves.size(); ++i) {
    if (leaves[i].nothing() || leaves[i - 1].nothing() ||
        leaves[i].rank() != (leaves[i - 1].rank() + 1) % ranks ||
        leaves[i].index() != leaves[0].index()) {
      return false;
    }
  }
  return true;
}

std::string_view between(ReduceOp op) {
  switch (op) {
    case ReduceOp::prod:
      return "*";
    case ReduceOp::min:
    case ReduceOp::max:
      return ",";
    default:
      return "+";
  }
}

}  // namespace

double ShownValues::input(int rank, std::size_t index) const {
  const int p = story_.asked.ranks;
  const auto r = static_cast<std::size_t>(rank);
  switch (story_.asked.op) {
    case ReduceOp::prod:
      return static_cast<double>((r + index) % 3 + 1);
    case ReduceOp::min:
    case ReduceOp::max:
      return static_cast<double>(10 * ((r + index) % static_cast<std::size_t>(p) + 1) + index % 10);
    default:
      return p <= most_digits ? static_cast<double>(index % 9 + 1) * std::pow(10, rank)
                              : static_cast<double>(100 * (r + 1) + index % 100);
  }
}

std::string ShownValues::inputs() const {
  const int p = story_.asked.ranks;
  const std::size_t n = story_.asked.count;
  const auto wrapped = [&](std::size_t limit) {
    return n > limit ? fmt::format("i mod {}", limit) : std::string("i");
  };
  switch (story_.asked.op) {
    case ReduceOp::prod:
      return "(r + i) mod 3 + 1";
    case ReduceOp::min:
    case ReduceOp::max:
      return fmt::format("10 x ((r + i) mod {} + 1) + {}", p, wrapped(10));
    default:
      return p <= most_digits
                 ? fmt::format("({} + 1) x 10^r: its digits say whose part is in", wrapped(9))
                 : fmt::format("100 x (r + 1) + {}", wrapped(100));
  }
}

double ShownValues::number(Symbol symbol) const {
  return story_.expressions.evaluate<double>(
      symbol, [&](int rank, std::size_t index) { return input(rank, index); }, {});
}

// In all_to_all elements change their places, so that all name theirs.
std::string ShownValues::leaf(Symbol symbol, std::size_t index) const {
  if (symbol.nothing()) {
    return "?";
  }
  return symbol.index() == index && !story_.moves
             ? fmt::format("r{}", symbol.rank())
             : fmt::format("r{}[{}]", symbol.rank(), symbol.index());
}

std::string ShownValues::symbols(Symbol symbol, std::size_t index) const {
  Flat flat;
  flatten(story_.expressions, symbol, flat);
  const auto& leaves = flat.leaves;
  const ReduceOp op = story_.asked.op;
  const std::string sign(between(op));
  std::string text = leaf(leaves[0], index);
  if (leaves.size() > most_parts) {
    text += consecutive(leaves, story_.asked.ranks) ? sign + "…" + sign + leaf(leaves.back(), index)
                                                    : fmt::format("{}…({})", sign, leaves.size());
  } else {
    for (std::size_t i = 1; i < leaves.size(); ++i) {
      text += sign + leaf(leaves[i], index);
    }
  }
  if (leaves.size() > 1 && (op == ReduceOp::min || op == ReduceOp::max)) {
    text = fmt::format("{}({})", name_of(op), text);
  }
  return flat.divisor == 0    ? text
         : leaves.size() == 1 ? fmt::format("{}/{}", text, flat.divisor)
                              : fmt::format("({})/{}", text, flat.divisor);
}

std::string ShownValues::text(Symbol symbol, std::size_t index) const {
  if (symbol.nothing()) {
    return ".";
  }
  if (style_ == ValueStyle::symbols) {
    return symbols(symbol, index);
  }
  const double value = number(symbol);
  return value == std::floor(value) ? fmt::format("{:.0f}", value) : fmt::format("{:.6g}", value);
}

std::string ShownValues::carried(const ToldMessage& message, std::size_t most) const {
  std::string text;
  std::string last;
  std::size_t shown = 0;
  for (const Symbol symbol : message.carried) {
    const auto leaves = story_.expressions.leaves(symbol);
    const auto next = this->text(symbol, leaves.front().nothing() ? 0 : leaves.front().index());
    if (next == last) {
      continue;
    }
    if (shown++ == most) {
      return text + " …";
    }
    text += (text.empty() ? "" : " ") + next;
    last = next;
  }
  return text;
}

namespace {

// "0-3, 7"
std::string ranges(const std::vector<std::size_t>& elements) {
  std::string text;
  std::size_t shown = 0;
  for (std::size_t i = 0; i < elements.size();) {
    std::size_t last = i;
    while (last + 1 < elements.size() && elements[last + 1] == elements[last] + 1) {
      ++last;
    }
    if (shown++ == most_ranges) {
      return text + ", …";
    }
    text += (i == 0 ? "" : ", ") + (last == i ? fmt::format("{}", elements[i])
                                              : fmt::format("{}-{}", elements[i], elements[last]));
    i = last + 1;
  }
  return text;
}

}  // namespace

std::string elements_of(const Story& story, const ToldMessage& message) {
  std::vector<std::size_t> elements;
  for (const Symbol symbol : message.carried) {
    const auto leaves = story.expressions.leaves(symbol);
    if (!leaves.front().nothing()) {
      elements.push_back(leaves.front().index());
    }
  }
  const std::set<std::size_t> different(elements.begin(), elements.end());
  if (message.carried.empty()) {
    return "none";
  }
  if (elements.empty()) {
    return "unwritten";
  }
  const bool all = different.size() == story.asked.count && story.asked.count > 1;
  return all && elements.size() == different.size() && *different.begin() == elements.front()
             ? "all"
             : ranges(elements);
}

std::string short_name(const Story& story, const ToldMessage& message) {
  return message.chunk >= 0 ? fmt::format("c{}", message.chunk) : elements_of(story, message);
}

}  // namespace ringside
