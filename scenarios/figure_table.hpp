// scenarios/figures.tsv: the figures of the chapter as it displays them.
#pragma once

#include <string>
#include <vector>

namespace ringside {

struct FigureRow {
  std::string id;       // "DP07"
  std::string section;  // "DP"
  std::string what;
  std::string exact;  // read by tests only: the program has its own formulas
  std::string shown;  // "97.2 GB"; "—": the chapter displays nothing
  std::string kind;   // formula, estimate, quoted
};

// All rows, in the table's order. Throws BadUse with the line that is no row.
std::vector<FigureRow> figure_table();

}  // namespace ringside
