#include "scenarios/parity_verb.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "scenarios/exit_codes.hpp"
#include "scenarios/parity_row.hpp"
#include "scenarios/printed_json.hpp"
#include "scenarios/terminal.hpp"
#include "scenarios/wrap.hpp"

namespace ringside {

namespace {

constexpr std::size_t columns = 100;
constexpr std::size_t indent = 6;

std::string heading(const ParityRequest& request) {
  return fmt::format(
      "parity of {} ranks{}: loss and norm of the last step, the worst gradient of all steps and "
      "ranks\n\n  {:60}{:>9} {:>11} {:>9} {:>9} {:>9}  {}\n",
      request.ranks, request.full ? ", every plan" : ", a plan a mesh", "plan", "loss", "norm",
      "absolute", "relative", "ULP", "verdict");
}

std::string text_of(const ParityRow& row) {
  const std::string name = row.control.empty() ? row.plan : row.plan + ": " + row.control;
  std::string text = fmt::format("  {:60}", name);
  if (row.figures) {
    const ParityFigures& f = *row.figures;
    text += fmt::format("{:>9.6g} {:>11.6g} {:>9.1e} {:>9.1e} {:>9.3g}", f.loss, f.norm, f.absolute,
                        f.relative, f.ulps);
  } else {
    text += fmt::format("{:>9} {:>11} {:>9} {:>9} {:>9}", "-", "-", "-", "-", "-");
  }
  text += fmt::format("  {}\n", name_of(row.verdict));
  if (!row.why.empty()) {
    text += std::string(indent, ' ') + wrapped(row.why, indent, columns) + "\n";
  }
  return text;
}

nlohmann::ordered_json json_of(const ParityRow& row) {
  nlohmann::ordered_json json{{"plan", row.plan},
                              {"control", row.control},
                              {"verdict", name_of(row.verdict)},
                              {"loss", nullptr},
                              {"norm", nullptr},
                              {"gradient_absolute", nullptr},
                              {"gradient_relative", nullptr},
                              {"gradient_ulps", nullptr},
                              {"why", row.why}};
  if (row.figures) {
    json["loss"] = row.figures->loss;
    json["norm"] = row.figures->norm;
    json["gradient_absolute"] = row.figures->absolute;
    json["gradient_relative"] = row.figures->relative;
    json["gradient_ulps"] = row.figures->ulps;
  }
  return json;
}

std::ptrdiff_t count(const std::vector<ParityRow>& rows, ParityVerdict verdict) {
  return std::ranges::count(rows, verdict, &ParityRow::verdict);
}

std::string summary(const std::vector<ParityRow>& rows) {
  return fmt::format(
      "\n  {} plans as one process, {} refused with the reason, {} faults caught; {} plans fail, "
      "{} "
      "faults missed\n  verdict: {}\n",
      count(rows, ParityVerdict::pass), count(rows, ParityVerdict::refused),
      count(rows, ParityVerdict::caught), count(rows, ParityVerdict::fail),
      count(rows, ParityVerdict::missed), std::ranges::all_of(rows, row_holds) ? "pass" : "FAIL");
}

nlohmann::ordered_json document_of(const ParityRequest& request,
                                   const std::vector<ParityRow>& rows) {
  nlohmann::ordered_json document{
      {"verb", "parity"},
      {"verdict", std::ranges::all_of(rows, row_holds) ? "pass" : "fail"},
      {"ranks", request.ranks},
      {"full", request.full},
      {"rows", nlohmann::ordered_json::array()}};
  for (const ParityRow& row : rows) {
    document["rows"].push_back(json_of(row));
  }
  return document;
}

}  // namespace

int parity_verb(const ParityRequest& request) {
  Progress progress(std::cerr, stderr_rewrites_lines());
  ParityRuns runs(request.timeout);
  std::vector<ParityRow> rows;
  const auto plans = parity_plans(request.ranks, request.full);
  if (!request.json) {
    std::cout << heading(request) << std::flush;
  }
  for (const ParityPlan& plan : plans) {
    progress.show(
        fmt::format("{} of {}: {}", rows.size() + 1, plans.size(), plan_name(plan.settings)));
    rows.push_back(runs.row_of(plan));
    if (!request.json) {
      progress.wipe();
      std::cout << printable(text_of(rows.back())) << std::flush;
    }
  }
  progress.wipe();
  std::cout << (request.json ? printed_json(document_of(request, rows)) : summary(rows));
  return std::ranges::all_of(rows, row_holds) ? exit_ok : exit_check_failed;
}

}  // namespace ringside
