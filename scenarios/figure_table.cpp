#include "scenarios/figure_table.hpp"

#include <sstream>

#include "runtime/errors.hpp"
#include "runtime/files/input_file.hpp"
#include "scenarios/scenario_file.hpp"

namespace ringside {

namespace {

// id, section, what, inputs, formula, exact, shown, kind, status
constexpr std::size_t columns = 9;

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, '\t');) {
    cells.push_back(cell);
  }
  return cells;
}

}  // namespace

std::vector<FigureRow> figure_table() {
  const auto folder = scenarios_folder();
  const auto path = folder ? *folder / "figures.tsv" : std::filesystem::path("figures.tsv");
  std::istringstream in(read_file(path, "the table of figures beside the scenarios", 1 << 20));
  std::vector<FigureRow> rows;
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    const auto cells = cells_of(line);
    if (cells.size() != columns) {
      throw BadUse(path.string() + ":" + std::to_string(number) + ": has " +
                   std::to_string(cells.size()) + " columns, not " + std::to_string(columns));
    }
    if (number > 1) {
      rows.push_back({cells[0], cells[1], cells[2], cells[5], cells[6], cells[7]});
    }
  }
  return rows;
}

}  // namespace ringside
