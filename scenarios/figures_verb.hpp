// `ringside figures`: every figure of the chapter that the program computes, beside the chapter's.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/figure.hpp"
#include "scenarios/figure_table.hpp"
#include "scenarios/figures_executed.hpp"

namespace ringside {

struct FiguresRequest {
  std::string section{};  // empty: all
  bool execute = true;    // run the jobs behind the executed values
  bool json = false;
};

// A figure of ours beside the chapter's row.
struct JudgedFigure {
  FigureRow row;
  Figure figure;
  std::optional<Executed> executed;

  // formula, executed, estimate, published
  std::string_view provenance() const;
  // pass, fail; not_applicable: quoted, with nothing to compute.
  std::string_view verdict() const;
};

// Those of the table that the program has, in the table's order.
std::vector<JudgedFigure> judged_figures(const FiguresRequest& request);

// Prints a line for each; exit code 0, or 1 when one differs.
int figures_verb(const FiguresRequest& request);

}  // namespace ringside
