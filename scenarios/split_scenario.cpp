#include "scenarios/split_scenario.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

#include "parallel/mlp_split.hpp"
#include "runtime/launch.hpp"

namespace ringside {

namespace {

double off(DeviceMemory& memory, const GeluMlp& mlp, const Tensor& y) {
  const Tensor truth = run_alone(memory, mlp);
  double most = 0;
  for (std::size_t i = 0; i < y.count(); ++i) {
    most = std::max(most, std::abs(y.as<double>()[i] - truth.as<double>()[i]));
  }
  return most;
}

struct Outcome {
  JobResult job;
  double off = 0;  // max |difference| from one process, of all ranks
};

Outcome run(const Settings& s, JobOptions options, Fault fault) {
  options.cluster = cluster_of(s);
  Outcome outcome{.job = run_job(s.ranks, options, [&](Rank& rank) {
                    const auto seed = static_cast<std::uint64_t>(s.train.seed);
                    const GeluMlp mlp = make_gelu_mlp(rank.memory(), seed);
                    const Tensor y = run_split(rank.world(), rank.memory(), mlp,
                                               {.split = parse_mlp_split(s.parallel.split),
                                                .all_reduce = s.collectives.all_reduce,
                                                .all_gather = s.collectives.all_gather,
                                                .fault = fault});
                    return fmt::format("{:.17g}", off(rank.memory(), mlp, y));
                  })};
  if (!outcome.job.ok()) {
    outcome.job.raise();
  }
  for (const auto& rank : outcome.job.ranks) {
    outcome.off = std::max(outcome.off, std::stod(rank.value));
  }
  return outcome;
}

// Why gelu on parts of sums is wrong, with the numbers of one element.
std::string reason(const Settings& s) {
  DeviceMemory memory(std::size_t{1} << 20);
  const GeluMlp mlp = make_gelu_mlp(memory, static_cast<std::uint64_t>(s.train.seed));
  const GeluOfParts worst = worst_of_parts(memory, mlp, s.ranks);
  return fmt::format(
      "gelu(a + b) is not gelu(a) + gelu(b): of {}, hidden column {}, gelu({}) = {:.3f}, but the "
      "ranks' gelus add up to {:.3f}",
      bench_tokens[worst.token], worst.column, worst.parts, worst.gelu_of_sum, worst.sum_of_gelus);
}

Check difference(const Settings& s, const Outcome& outcome) {
  const bool row_first = parse_mlp_split(s.parallel.split) == MlpSplit::row_first;
  Check check =
      below("split.difference", outcome.off, 1e-12,
            row_first && s.ranks > 1 ? reason(s) : "max |difference| from one process, f64");
  if (s.checks.expect == "fail") {
    check.control = true;
    check.gate = "caught by < 1e-12";
    check.verdict = outcome.off > 1e-2 ? CheckVerdict::pass : CheckVerdict::fail;
  }
  return check;
}

std::vector<TrafficComparison> traffic(const Settings& s, const JobResult& job) {
  const MlpSplit split = parse_mlp_split(s.parallel.split);
  const bool gathers = split == MlpSplit::column_only;
  std::vector<TrafficComparison> rows;
  for (int r = 0; r < s.ranks; ++r) {
    TrafficComparison row{.rank = r,
                          .operation = gathers ? "all_gather" : "all_reduce",
                          .label = gathers ? "hidden, y" : "y",
                          .formula = gathers ? "(p-1)/p (5 x 8 + 5 x 4) 8" : "2(p-1)/p 5 x 4 x 8",
                          .sent_formula = sent_by_split(split, s.ranks)};
    for (const auto& sum : job.ranks[static_cast<std::size_t>(r)].report.sums) {
      row.sent += sum.sent_bytes;
      row.received += sum.received_bytes;
    }
    rows.push_back(row);
  }
  return rows;
}

Check sent_in_all(const Settings& s, const std::vector<TrafficComparison>& rows) {
  std::int64_t sent = 0;
  std::int64_t formula = 0;
  for (const auto& row : rows) {
    sent += row.sent;
    formula += row.sent_formula;
  }
  const auto column_row = s.ranks * sent_by_split(MlpSplit::column_row, s.ranks);
  return equal("split.bytes_sent", sent, formula, "bytes",
               "all ranks; columns and then rows: " + std::to_string(column_row));
}

}  // namespace

RunReport run_split_scenario(const Settings& s, const JobOptions& options) {
  const Outcome outcome = run(s, options, Fault::none);
  RunReport report{.settings = s,
                   .headline = fmt::format(
                       "{}: gelu(x A) B of 5 tokens, 4 x 8 x 4, in f64, on {} rank{}, cut {}",
                       s.name, s.ranks, s.ranks == 1 ? "" : "s", s.parallel.split),
                   .first_sample = "小明|把|苹果|给了|小王",
                   .traffic = traffic(s, outcome.job),
                   .job = outcome.job};
  report.checks = {difference(s, outcome), sent_in_all(s, report.traffic)};
  if (s.parallel.split != "column_only" && s.ranks > 1 && s.checks.expect.empty()) {
    const double without = run(s, options, Fault::leave_not_reduced).off;
    report.checks.push_back({.name = "control.leave_not_reduced",
                             .measured = without,
                             .gate = "caught by < 1e-12",
                             .verdict = without >= 1e-12 ? CheckVerdict::pass : CheckVerdict::fail,
                             .control = true});
  }
  return report;
}

}  // namespace ringside
