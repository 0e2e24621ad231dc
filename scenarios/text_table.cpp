#include "scenarios/text_table.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

#include "scenarios/wrap.hpp"

namespace ringside {
namespace {

constexpr std::size_t gap = 2;

// How many columns from `first` on share its heading.
std::size_t group_size(const std::vector<TableColumn>& columns, std::size_t first) {
  std::size_t last = first + 1;
  while (last < columns.size() && columns[last].group == columns[first].group) {
    ++last;
  }
  return last - first;
}

std::string without_trailing_blanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

// A group that is narrower than its heading widens its first column.
std::vector<std::size_t> TextTable::widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = width_of(columns_[c].title);
    for (const auto& row : rows_) {
      width = std::max(width, width_of(row[c]));
    }
    widths.push_back(width);
  }
  for (std::size_t c = 0; c < columns_.size(); c += group_size(columns_, c)) {
    std::size_t width = gap * (group_size(columns_, c) - 1);
    for (std::size_t i = c; i < c + group_size(columns_, c); ++i) {
      width += widths[i];
    }
    const auto wanted = columns_[c].group.size();
    widths[c] += wanted > width ? wanted - width : 0;
  }
  return widths;
}

std::string TextTable::headings(const std::vector<std::size_t>& widths) const {
  std::string line;
  for (std::size_t c = 0; c < columns_.size(); c += group_size(columns_, c)) {
    std::size_t width = gap * (group_size(columns_, c) - 1);
    for (std::size_t i = c; i < c + group_size(columns_, c); ++i) {
      width += widths[i];
    }
    line += fmt::format("{:{}}{:>{}}", "", gap, columns_[c].group, width);
  }
  return line.find_first_not_of(' ') == std::string::npos ? "" : without_trailing_blanks(line);
}

std::string TextTable::text() const {
  const auto wide = widths();
  std::string text = headings(wide);
  const auto line = [&](const auto& cell) {
    std::string all;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      all += columns_[c].left ? fmt::format("{:{}}{:<{}}", "", gap, cell(c), wide[c])
                              : fmt::format("{:{}}{:>{}}", "", gap, cell(c), wide[c]);
    }
    return without_trailing_blanks(all);
  };
  text += line([&](std::size_t c) { return columns_[c].title; });
  for (const auto& row : rows_) {
    text += line([&](std::size_t c) { return row[c]; });
  }
  return text;
}

std::string four_digits(double value) {
  return std::isfinite(value) && std::abs(value) >= 1000 ? fmt::format("{:.0f}", value)
                                                         : fmt::format("{:.4g}", value);
}

}  // namespace ringside
