#include "scenarios/run_report.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <set>

#include "scenarios/near_miss.hpp"
#include "scenarios/run_time.hpp"

namespace ringside {

namespace {

std::string shown(const nlohmann::json& measured) {
  if (measured.is_number_float()) {
    return fmt::format("{:.3g}", measured.get<double>());
  }
  return measured.is_string() ? measured.get<std::string>() : measured.dump();
}

std::string verdict_of(const Check& check) {
  if (check.control && check.verdict != CheckVerdict::not_applicable) {
    return check.verdict == CheckVerdict::pass ? "pass (caught)" : "FAIL (not caught)";
  }
  return check.verdict == CheckVerdict::fail             ? "FAIL"
         : check.verdict == CheckVerdict::not_applicable ? "not applicable"
                                                         : "pass";
}

std::string_view name_of(LogLevel level) {
  return level == LogLevel::full ? "full" : level == LogLevel::summary ? "summary" : "none";
}

// All of a few; the first and the last of many.
std::string losses_text(const std::vector<double>& losses) {
  constexpr std::size_t shown = 5;  // at either end
  std::string text;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (losses.size() > 2 * shown && i == shown) {
      text += " …";
      i = losses.size() - shown;
    }
    text += fmt::format(" {:.6f}", losses[i]);
  }
  return text;
}

// Of a long note its first sentence; JSON has all of it.
std::string note_text(const std::string& note) {
  const auto end = std::min(note.find(". "), note.find('\n'));
  return note.empty() ? "" : "  (" + (end < note.size() ? note.substr(0, end) + ". …" : note) + ")";
}

std::string checks_text(const Checks& checks) {
  std::string text =
      fmt::format("  {:44} {:>16}   {:24} {}\n", "check", "measured", "gate", "verdict");
  for (const auto& c : checks) {
    text += fmt::format("  {:44} {:>16}   {:24} {}{}\n", c.name, shown(c.measured), c.gate,
                        verdict_of(c), note_text(c.note));
  }
  return text;
}

bool same_figures(const TrafficComparison& a, const TrafficComparison& b) {
  return a.operation == b.operation && a.label == b.label && a.formula == b.formula &&
         a.sent == b.sent && a.sent_formula == b.sent_formula && a.received == b.received &&
         a.received_formula == b.received_formula;
}

bool moves_something(const TrafficComparison& row) {
  return row.sent != 0 || row.sent_formula != 0 || row.received != 0 ||
         row.received_formula.value_or(0) != 0;
}

// What moves nothing on any rank, such as gradients where there is one replica.
void leave_out_idle(std::vector<TrafficComparison>& rows) {
  std::set<std::pair<std::string, std::string>> busy;
  for (const auto& row : rows) {
    if (moves_something(row)) {
      busy.emplace(row.label, row.operation);
    }
  }
  std::erase_if(rows, [&](const auto& row) { return !busy.contains({row.label, row.operation}); });
}

// Neighbouring ranks with the same figures share a line.
std::string traffic_text(std::vector<TrafficComparison> rows) {
  leave_out_idle(rows);
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return std::tie(a.label, a.operation) < std::tie(b.label, b.operation);
  });
  if (rows.empty()) {
    return "  no traffic\n";
  }
  std::string text =
      fmt::format("  {:8} {:14} {:11} {:>14} {:>14} {:>14} {:>14}  {}\n", "rank", "operation",
                  "what", "sent", "formula", "received", "formula", "sent = (bytes)");
  for (std::size_t first = 0; first < rows.size();) {
    std::size_t last = first;
    while (last + 1 < rows.size() && same_figures(rows[first], rows[last + 1])) {
      ++last;
    }
    const auto& r = rows[first];
    const std::string ranks =
        first == last ? std::to_string(r.rank) : fmt::format("{}-{}", r.rank, rows[last].rank);
    const auto expected = r.received_formula ? std::to_string(*r.received_formula) : "-";
    text += fmt::format("  {:8} {:14} {:11} {:>14} {:>14} {:>14} {:>14}  {}\n", ranks, r.operation,
                        r.label, r.sent, r.sent_formula, r.received, expected, r.formula);
    first = last + 1;
  }
  return text;
}

nlohmann::json sums_json(const RankReport& rank) {
  auto sums = nlohmann::json::array();
  for (const auto& s : rank.sums) {
    sums.push_back({{"group", std::string_view(s.group)},
                    {"operation", std::string_view(s.operation)},
                    {"label", std::string_view(s.label)},
                    {"link", name_of(s.link)},
                    {"sent_bytes", s.sent_bytes},
                    {"sent_messages", s.sent_messages},
                    {"received_bytes", s.received_bytes},
                    {"received_messages", s.received_messages}});
  }
  return sums;
}

nlohmann::json traffic_json(const RunReport& report) {
  auto ranks = nlohmann::json::array();
  for (std::size_t r = 0; r < report.job.ranks.size(); ++r) {
    auto compared = nlohmann::json::array();
    for (const auto& row : report.traffic) {
      if (row.rank == static_cast<int>(r)) {
        nlohmann::json received{{"counted", row.received}, {"formula", nullptr}};
        if (row.received_formula) {
          received["formula"] = *row.received_formula;
        }
        compared.push_back({{"operation", row.operation},
                            {"label", row.label},
                            {"formula", row.formula},
                            {"sent", {{"counted", row.sent}, {"formula", row.sent_formula}}},
                            {"received", received}});
      }
    }
    const bool kept = report.log != LogLevel::none;
    ranks.push_back(
        {{"rank", r},
         {"compared", compared},
         {"sums", kept ? sums_json(report.job.ranks[r].report) : nlohmann::json::array()}});
  }
  return ranks;
}

nlohmann::json memory_json(const JobResult& job) {
  auto ranks = nlohmann::json::array();
  for (std::size_t r = 0; r < job.ranks.size(); ++r) {
    const Ledger& ledger = job.ranks[r].report.memory;
    nlohmann::json row{{"rank", r}, {"peak_bytes", ledger.total_peak}};
    for (std::size_t c = 0; c < category_count; ++c) {
      std::string key(name_of(static_cast<Category>(c)));
      std::replace(key.begin(), key.end(), ' ', '_');
      row["categories"][key] = {{"current_bytes", ledger.current[c]},
                                {"peak_bytes", ledger.peak[c]}};
    }
    ranks.push_back(row);
  }
  return ranks;
}

nlohmann::json checks_json(const Checks& checks) {
  auto rows = nlohmann::json::array();
  for (const auto& c : checks) {
    nlohmann::json row{{"name", c.name},
                       {"measured", c.measured},
                       {"gate", c.gate},
                       {"verdict", name_of(c.verdict)},
                       {"control", c.control}};
    if (!c.note.empty()) {
      row["note"] = c.note;
    }
    rows.push_back(row);
  }
  return rows;
}

std::string resumed_text(const DataPosition& data) {
  return fmt::format("  goes on after step {} of {}, with samples {} to {}\n", data.first_step,
                     data.resumed, data.first_sample, data.first_sample + data.samples - 1);
}

}  // namespace

std::string report_text(const RunReport& report) {
  std::string text = report.headline + "\n";
  text += report.changed.empty()
              ? (report.language == Language::zh ? report.settings.lesson.zh
                                                 : report.settings.lesson.en) +
                    "\n\n"
              : fmt::format("(changed: {}; the lesson is that of the scenario as it was)\n\n",
                            joined(report.changed));
  if (!report.warning.empty()) {
    text += "  warning: " + report.warning + "\n\n";
  }
  if (!report.first_sample.empty() || !report.losses.empty()) {
    text += report.data.resumed.empty()
                ? fmt::format("  sample 0 of step 0, on rank 0: {}\n", report.first_sample)
                : resumed_text(report.data);
    text += report.losses.empty() ? "\n" : "  loss:" + losses_text(report.losses) + "\n\n";
  }
  text += checks_text(report.checks) + "\n";
  if (report.divergence) {
    text += divergence_text(*report.divergence) + "\n";
  }
  if (!report.traffic.empty()) {
    text += traffic_text(report.traffic) + "\n";
  }
  text += time_text(report);
  if (!report.no_trace.empty()) {
    text += "\n  trace.json: " + report.no_trace;
  }
  if (!report.data.saved.empty()) {
    text += "\n  checkpoint: " + report.data.saved;
  }
  text += fmt::format("\n  run folder: {}\n  verdict: {}\n", report.folder.string(),
                      all_hold(report.checks) ? "pass" : "FAIL");
  return text;
}

nlohmann::json report_json(const RunReport& report) {
  nlohmann::json document{
      {"verb", "run"},
      {"scenario", report.settings.name},
      {"verdict", all_hold(report.checks) ? "pass" : "fail"},
      {"lesson", {{"en", report.settings.lesson.en}, {"zh", report.settings.lesson.zh}}},
      {"changed", report.changed},
      {"warning", report.warning},
      {"first_sample", report.first_sample},
      {"data",
       {{"first_step", report.data.first_step},
        {"first_sample", report.data.first_sample},
        {"samples", report.data.samples},
        {"resumed", report.data.resumed},
        {"saved", report.data.saved}}},
      {"losses", report.losses},
      {"checks", checks_json(report.checks)},
      {"log", name_of(report.log)},
      {"traffic", traffic_json(report)},
      {"memory", memory_json(report.job)},
      {"trace", report.no_trace},
      {"time", time_json(report)},
      {"run_folder", report.folder.string()}};
  if (!report.unwritten.empty()) {
    document["unwritten"] = report.unwritten;
  }
  if (report.divergence) {
    document["divergence"] = divergence_json(*report.divergence);
  }
  return document;
}

}  // namespace ringside
