// A table of text whose columns are as wide as they must be; groups of columns share a heading.
#pragma once

#include <string>
#include <vector>

namespace ringside {

struct TableColumn {
  std::string title;
  std::string group{};  // the same text over neighbouring columns is one heading
  bool left = false;    // else right-aligned
};

class TextTable {
 public:
  explicit TextTable(std::vector<TableColumn> columns) : columns_(std::move(columns)) {}

  // One cell per column.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  // Headings, then the rows, each with two blanks before it.
  std::string text() const;

 private:
  std::vector<std::size_t> widths() const;
  std::string headings(const std::vector<std::size_t>& widths) const;

  std::vector<TableColumn> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Four significant digits without an exponent where that is shorter: "0.02105", "137.2", "268435".
std::string four_digits(double value);

}  // namespace ringside
