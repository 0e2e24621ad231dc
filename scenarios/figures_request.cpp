// The flags of `figures`.
#include <algorithm>

#include "scenarios/flag_values.hpp"
#include "scenarios/flags.hpp"
#include "scenarios/help_text.hpp"
#include "scenarios/requests.hpp"

namespace ringside {

namespace {

std::vector<std::string> sections() {
  std::vector<std::string> names;
  for (const FigureRow& row : figure_table()) {
    if (std::find(names.begin(), names.end(), row.section) == names.end()) {
      names.push_back(row.section);
    }
  }
  return names;
}

}  // namespace

Asked<FiguresRequest> asked_figures(const std::vector<std::string>& words) {
  FiguresRequest request;
  std::optional<std::string> section;
  bool formulas = false;
  Flags flags("figures", "ringside figures [SECTION] [flags]", meaning_of("figures"),
              examples_of("figures"));
  flags.word("SECTION", section, "of the chapter: DP, ZeRO, TP…; all when left out");
  flags.flag("--formulas", formulas, "formulas only: run no job");
  flags.flag("--json", request.json, "one JSON document on stdout");
  if (!flags.parse(words)) {
    return {{}, flags.help()};
  }
  if (section) {
    request.section = choice_of("SECTION", *section, sections());
  }
  request.execute = !formulas;
  return {request, {}};
}

}  // namespace ringside
