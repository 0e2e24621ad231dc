#include "scenarios/figures_verb.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "scenarios/exit_codes.hpp"
#include "scenarios/figure_sections.hpp"
#include "scenarios/figure_words.hpp"
#include "scenarios/printed_json.hpp"
#include "scenarios/text_table.hpp"

namespace ringside {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view nothing = "–";
constexpr std::string_view displays_nothing = "—";  // in the table

std::vector<Figure> all_figures(const FigureInputs& inputs) {
  std::vector<Figure> all;
  for (const auto& section : {data_parallel_figures, zero_figures, tensor_parallel_figures,
                              pipeline_figures, context_parallel_figures, expert_parallel_figures,
                              mesh_figures, pitfall_figures, public_figures}) {
    const auto figures = section(inputs);
    all.insert(all.end(), figures.begin(), figures.end());
  }
  return all;
}

bool whole(double value) {
  return value == std::floor(value) && std::abs(value) < 1e15;
}

std::string text_of(double value) {
  return whole(value) ? grouped(value) : fmt::format("{:.12g}", value);
}

Json json_of(double value) {
  return whole(value) ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

Json json_of(const PaddedTraffic& padded) {
  return {{"over", padded.over},
          {"elements", padded.elements},
          {"without_bytes", padded.without},
          {"adds_bytes", padded.adds},
          {"counted_bytes", padded.counted}};
}

// Whether there is a number of ours: what is only quoted or given is none.
bool computed(const JudgedFigure& judged) {
  return judged.figure.exact && judged.verdict() != "not_applicable";
}

Json json_of(const JudgedFigure& judged) {
  const Figure& figure = judged.figure;
  Json row{{"id", figure.id},
           {"section", judged.row.section},
           {"what", judged.row.what},
           {"provenance", judged.provenance()},
           {"source", figure.source},
           {"exact", computed(judged) ? json_of(*figure.exact) : Json()},
           {"executed", judged.executed ? json_of(judged.executed->mean) : Json()}};
  if (judged.executed) {
    if (!judged.executed->seen.empty()) {
      row["executed"] = judged.executed->seen;
    }
    row["executed_least"] = json_of(judged.executed->least);
    row["executed_most"] = json_of(judged.executed->most);
    row["summed"] = judged.executed->summed;
    if (const auto& padded = judged.executed->padded) {
      row["padding"] = json_of(*padded);
    }
  }
  row["unit"] = figure.unit;
  if (!figure.property.empty()) {
    row["property"] = figure.property;
  }
  row["shown"] = figure.shown;
  row["chapter"] = judged.row.shown;
  row["verdict"] = judged.verdict();
  return row;
}

std::string executed_text(const JudgedFigure& judged) {
  if (!judged.executed) {
    return std::string(nothing);
  }
  return judged.executed->seen.empty() ? text_of(judged.executed->mean) : judged.executed->seen;
}

std::string summed_text(const JudgedFigure& judged) {
  const Executed& e = *judged.executed;
  const auto spread = e.least == e.most
                          ? std::string()
                          : fmt::format(" (least {}, most {})", text_of(e.least), text_of(e.most));
  auto text = fmt::format("    {}: {}{}\n", judged.figure.id, e.summed, spread);
  if (e.padded) {
    const auto grouped = [](std::int64_t bytes) { return text_of(static_cast<double>(bytes)); };
    text += fmt::format(
        "          {}: {} B without padding; {} elements of padding in the buckets add {} B; "
        "counted "
        "in the buckets {} B: {}\n",
        e.padded->over, grouped(e.padded->without), grouped(e.padded->elements),
        grouped(e.padded->adds), grouped(e.padded->counted),
        e.padded->holds() ? "the sum" : "NOT the sum");
  }
  return text;
}

std::string verdict_text(const JudgedFigure& judged) {
  const auto verdict = judged.verdict();
  return verdict == "fail" ? "FAIL" : verdict == "pass" ? "pass" : "published";
}

void print_text(const std::vector<JudgedFigure>& figures) {
  TextTable table({{.title = "figure", .left = true},
                   {.title = "provenance", .left = true},
                   {.title = "formula"},
                   {.title = "unit", .left = true},
                   {.title = "executed"},
                   {.title = "chapter"},
                   {.title = "ours"},
                   {.title = "verdict", .left = true},
                   {.title = "what", .left = true}});
  std::string sums;
  for (const JudgedFigure& judged : figures) {
    const Figure& figure = judged.figure;
    const auto what =
        figure.property.empty() ? judged.row.what : judged.row.what + " [" + figure.property + "]";
    table.add({figure.id, std::string(judged.provenance()),
               computed(judged) ? text_of(*figure.exact) : std::string(nothing), figure.unit,
               executed_text(judged), in_english(judged.row.shown),
               figure.shown.empty() ? std::string(nothing) : in_english(figure.shown),
               verdict_text(judged), what});
    if (judged.executed) {
      sums += summed_text(judged);
    }
  }
  std::cout << table.text()
            << (sums.empty() ? "" : "\n  executed, by the label of the traffic:\n" + sums);
}

}  // namespace

std::string_view JudgedFigure::provenance() const {
  if (row.kind == "quoted" || verdict() == "not_applicable") {
    return "published";
  }
  return row.kind == "estimate" ? "estimate" : executed ? "executed" : "formula";
}

std::string_view JudgedFigure::verdict() const {
  if (figure.shown.empty()) {
    return "not_applicable";
  }
  const bool display =
      !figure.comparable || row.shown == displays_nothing || figure.shown == row.shown;
  const bool run = !executed || ((executed->seen.empty() ? executed->mean == figure.exact
                                                         : executed->seen == figure.property) &&
                                 (!executed->padded || executed->padded->holds()));
  return figure.holds && display && run ? "pass" : "fail";
}

std::vector<JudgedFigure> judged_figures(const FiguresRequest& request) {
  const FigureInputs inputs;
  const auto ours = all_figures(inputs);
  const auto executed =
      request.execute ? executed_figures(inputs) : std::map<std::string, Executed>{};
  std::vector<JudgedFigure> judged;
  for (const FigureRow& row : figure_table()) {
    const auto figure =
        std::find_if(ours.begin(), ours.end(), [&](const Figure& own) { return own.id == row.id; });
    if (figure == ours.end() || (!request.section.empty() && request.section != row.section)) {
      continue;
    }
    JudgedFigure& one = judged.emplace_back(JudgedFigure{row, *figure, {}});
    if (const auto run = executed.find(row.id); run != executed.end()) {
      one.executed = run->second;
    }
  }
  return judged;
}

int figures_verb(const FiguresRequest& request) {
  const auto figures = judged_figures(request);
  const auto with = [&](std::string_view verdict) {
    return std::count_if(figures.begin(), figures.end(),
                         [&](const auto& judged) { return judged.verdict() == verdict; });
  };
  const bool pass = with("fail") == 0;
  if (request.json) {
    Json document{{"verb", "figures"}, {"verdict", pass ? "pass" : "fail"}};
    document["figures"] = Json::array();
    for (const JudgedFigure& judged : figures) {
      document["figures"].push_back(json_of(judged));
    }
    std::cout << printed_json(document);
  } else {
    print_text(figures);
    std::cout << fmt::format(
        "\n  {} figures: {} pass, {} fail, {} published with nothing to compute\n  verdict: {}\n",
        figures.size(), with("pass"), with("fail"), with("not_applicable"), pass ? "pass" : "FAIL");
  }
  return pass ? exit_ok : exit_check_failed;
}

}  // namespace ringside
