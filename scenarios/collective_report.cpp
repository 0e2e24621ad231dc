#include "scenarios/collective_report.hpp"

#include <spdlog/fmt/fmt.h>

#include "scenarios/collective_figures.hpp"
#include "scenarios/text_table.hpp"

namespace ringside {
namespace {

std::string heading_of(Placement placement) {
  return placement == Placement::in_place ? "wall, in place" : "wall, out of place";
}

// Columns that would only repeat another are left out: busbw where it is algbw, both where nothing
// is moved.
bool has_algbw(const CollectiveReport& report) {
  return report.request.operation != "barrier";
}

bool has_busbw(const CollectiveReport& report) {
  return convention_of(report.request.operation).factor_text != "1";
}

void add_rate_columns(std::vector<TableColumn>& columns, const CollectiveReport& report,
                      const std::string& group) {
  columns.push_back({"time(us)", group});
  if (has_algbw(report)) {
    columns.push_back({"algbw", group});
  }
  if (has_busbw(report)) {
    columns.push_back({"busbw", group});
  }
}

std::vector<TableColumn> columns_of(const CollectiveReport& report) {
  std::vector<TableColumn> columns{
      {"size(B)"},
      {"count(elements)"},
      {"type"},
      {"redop"},
      {"root"},
      {.title = "algorithm", .left = true},
      {"steps"},
      {"one rank", "bytes on the wire"},
      {"all", "bytes on the wire"},
  };
  add_rate_columns(columns, report, "modelled");
  for (const auto placement : convention_of(report.request.operation).placements) {
    add_rate_columns(columns, report, heading_of(placement));
    columns.push_back({"#wrong", heading_of(placement)});
  }
  return columns;
}

void add_rates(std::vector<std::string>& cells, const CollectiveReport& report,
               const Rates& rates) {
  cells.push_back(four_digits(rates.seconds * 1e6));
  if (has_algbw(report)) {
    cells.push_back(four_digits(rates.algbw));
  }
  if (has_busbw(report)) {
    cells.push_back(four_digits(rates.busbw));
  }
}

std::size_t shown_count(const CollectiveReport& report, const CollectiveCase& what) {
  const auto ranks = static_cast<std::size_t>(report.request.settings.ranks);
  return convention_of(report.request.operation).count_per_rank ? what.count / ranks : what.count;
}

std::vector<std::string> cells_of(const CollectiveReport& report, const MeasuredCase& row) {
  const auto& request = report.request;
  const auto& convention = convention_of(request.operation);
  const auto& first = row.placements.front();
  std::vector<std::string> cells{std::to_string(row.what.bytes),
                                 std::to_string(shown_count(report, row.what)),
                                 std::string(name_of(request.dtype)),
                                 std::string(name_of(row.what.op)),
                                 std::to_string(convention.rooted ? request.root : -1),
                                 std::string(row.what.row->algorithm),
                                 std::to_string(claim_of(report, row.what).steps),
                                 std::to_string(first.sent_most),
                                 std::to_string(first.sent_all)};
  add_rates(cells, report, modelled_rates(report, row.what, first));
  for (const auto& m : row.placements) {
    add_rates(cells, report, wall_rates(report, row.what, m));
    cells.push_back(request.check ? std::to_string(m.wrong) : "N/A");
  }
  return cells;
}

std::string headline(const CollectiveReport& report) {
  const auto& r = report.request;
  const auto& s = r.settings;
  const auto plural = [](int n, const char* what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
  };
  const auto link = [](const char* name, const LinkSettings& l) {
    return fmt::format("{} {} and {}", name, bandwidth_string(l.bandwidth), to_string(l.latency));
  };
  return fmt::format("{}: {} on {}; {}, {}; {} after {} of warm-up{}\n", r.operation,
                     plural(s.ranks, "rank"), plural(cluster_of(s).nodes(s.ranks), "node"),
                     link("nvlink", s.links.nvlink), link("ib", s.links.ib),
                     plural(r.iterations, "timed call"), r.warmup,
                     r.check ? ", checked" : ", not checked");
}

std::string legend(const CollectiveReport& report) {
  const auto& convention = convention_of(report.request.operation);
  const int n = report.request.settings.ranks;
  return fmt::format(
      "size: S, the bytes of the whole buffer = count x element{}\n"
      "algbw = S/time; busbw = algbw x {}, here x {}; in GB/s, GB = 10^9 bytes\n"
      "modelled: exact, of one call that all ranks start together; wall: this machine, the slowest "
      "rank's mean\n"
      "bytes on the wire: sent in one call by the rank that sends most, and by all\n\n",
      convention.count_per_rank ? " x ranks" : "", convention.factor_text,
      four_digits(bus_bandwidth(convention, n, 1)));
}

nlohmann::ordered_json rates_json(const Rates& rates) {
  return {{"time_us", rates.seconds * 1e6},
          {"algbw_gb_per_s", rates.algbw},
          {"busbw_gb_per_s", rates.busbw}};
}

nlohmann::ordered_json row_json(const CollectiveReport& report, const MeasuredCase& row) {
  const auto& request = report.request;
  const auto& first = row.placements.front();
  const Claim claim = claim_of(report, row.what);
  nlohmann::ordered_json json{{"size_bytes", row.what.bytes},
                              {"count", shown_count(report, row.what)},
                              {"type", name_of(request.dtype)},
                              {"redop", name_of(row.what.op)},
                              {"root", convention_of(request.operation).rooted ? request.root : -1},
                              {"algorithm", row.what.row->algorithm},
                              {"steps", claim.steps}};
  json["wire_bytes"] = {{"rank_most", first.sent_most}, {"all", first.sent_all}};
  json["claim"] = {{"rank_most_bytes", claim.most_bytes}, {"all_bytes", claim.all_bytes}};
  json["modelled"] = rates_json(modelled_rates(report, row.what, first));
  json["modelled"]["time_ps"] = first.modelled.count();
  for (const auto& m : row.placements) {
    auto& placed = json["wall"][std::string(name_of(m.placement))];
    placed = rates_json(wall_rates(report, row.what, m));
    placed["wrong"] = request.check ? nlohmann::ordered_json(m.wrong) : nullptr;
  }
  return json;
}

}  // namespace

Checks checks_of(const CollectiveReport& report) {
  Checks checks;
  if (report.request.check) {
    checks.push_back(
        equal("wrong", averages_of(report).wrong, 0, "elements", "all rows and ranks"));
  }
  std::int64_t differ = 0;
  for (const auto& row : report.rows) {
    const Claim claim = claim_of(report, row.what);
    for (const auto& m : row.placements) {
      differ += m.sent_most == claim.most_bytes && m.sent_all == claim.all_bytes ? 0 : 1;
    }
  }
  checks.push_back(equal("wire_bytes.rows_that_differ", differ, 0, "rows",
                         "counted bytes against the algorithm's claim"));
  return checks;
}

std::string collective_text(const CollectiveReport& report) {
  TextTable table(columns_of(report));
  for (const auto& row : report.rows) {
    table.add(cells_of(report, row));
  }
  const Averages averages = averages_of(report);
  const auto checks = checks_of(report);
  std::string text = headline(report) + legend(report) + table.text() + "\n";
  text += report.request.check ? fmt::format("out of bounds values: {} {}\n", averages.wrong,
                                             averages.wrong == 0 ? "OK" : "FAILED")
                               : "out of bounds values: not checked\n";
  text += fmt::format("average bus bandwidth (GB/s): modelled {}, wall {}\n",
                      four_digits(averages.modelled_busbw), four_digits(averages.wall_busbw));
  if (const auto& wire = checks.back(); wire.verdict == CheckVerdict::fail) {
    text += fmt::format("bytes on the wire: {} rows are not what the algorithm claims\n",
                        wire.measured.dump());
  }
  return text + fmt::format("verdict: {}\n", all_hold(checks) ? "pass" : "FAIL");
}

nlohmann::ordered_json collective_json(const CollectiveReport& report) {
  const auto& request = report.request;
  const auto& convention = convention_of(request.operation);
  const auto checks = checks_of(report);
  const int ranks = request.settings.ranks;
  const Averages averages = averages_of(report);
  nlohmann::ordered_json json{{"verb", "collective"},
                              {"verdict", all_hold(checks) ? "pass" : "fail"},
                              {"operation", request.operation},
                              {"ranks", ranks},
                              {"nodes", cluster_of(request.settings).nodes(ranks)},
                              {"iterations", request.iterations},
                              {"warmup", request.warmup},
                              {"busbw_factor", bus_bandwidth(convention, ranks, 1)},
                              {"count_is_per_rank", convention.count_per_rank}};
  for (const auto& c : checks) {
    json["checks"].push_back({{"name", c.name},
                              {"measured", c.measured},
                              {"gate", c.gate},
                              {"verdict", name_of(c.verdict)},
                              {"control", c.control},
                              {"note", c.note}});
  }
  json["rows"] = nlohmann::ordered_json::array();
  for (const auto& row : report.rows) {
    json["rows"].push_back(row_json(report, row));
  }
  json["average_busbw_gb_per_s"] = {{"modelled", averages.modelled_busbw},
                                    {"wall", averages.wall_busbw}};
  return json;
}

}  // namespace ringside
