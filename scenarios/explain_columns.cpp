#include "scenarios/explain_columns.hpp"

#include <spdlog/fmt/fmt.h>

namespace ringside {

namespace {

constexpr std::size_t most_elements = 16;  // with a column each

// Whether two neighbours hold the same expression, each of its own element.
bool alike(const Expressions& expressions, Symbol a, Symbol b) {
  if (a.nothing() || b.nothing()) {
    return a.nothing() && b.nothing();
  }
  if (a.is_leaf() || b.is_leaf()) {
    return a.is_leaf() && b.is_leaf() && a.rank() == b.rank() && a.index() + 1 == b.index();
  }
  const SymbolNode& left = expressions.node(a);
  const SymbolNode& right = expressions.node(b);
  return left.divisor == right.divisor && left.op == right.op &&
         alike(expressions, left.left, right.left) &&
         (left.divisor > 0 || alike(expressions, left.right, right.right));
}

bool same_fate(const Story& story, std::size_t i) {
  for (const ToldStep& step : story.steps) {
    for (std::size_t r = 0; r < step.holds.size(); ++r) {
      if (step.changed[r][i - 1] != step.changed[r][i]) {
        return false;
      }
      if (step.changed[r][i] && !alike(story.expressions, step.holds[r][i - 1], step.holds[r][i])) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

std::string ElementColumn::title() const {
  return count == 1 ? fmt::format("{}", first) : fmt::format("{}-{}", first, first + count - 1);
}

std::vector<ElementColumn> columns_of(const Story& story) {
  const std::size_t n = story.asked.count;
  const int p = story.asked.ranks;
  std::vector<ElementColumn> columns;
  for (std::size_t i = 0; i < n; ++i) {
    if (i == 0 || n <= most_elements || chunk_with(n, p, i) != chunk_with(n, p, i - 1) ||
        !same_fate(story, i)) {
      columns.push_back({i});
    } else {
      ++columns.back().count;
    }
  }
  return columns;
}

}  // namespace ringside
