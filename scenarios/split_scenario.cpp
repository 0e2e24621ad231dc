#include "scenarios/split_scenario.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

#include "parallel/mlp_split.hpp"
#include "runtime/launch.hpp"
#include "scenarios/collective_formula.hpp"
#include "scenarios/plural.hpp"

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
                    DeviceMemory apart(std::size_t{1} << 20);  // what is compared with
                    const GeluMlp mlp = make_gelu_mlp(apart, seed);
                    const Tensor y = run_split(rank.world(), rank.memory(), mlp,
                                               {.split = parse_mlp_split(s.parallel.split),
                                                .all_reduce = s.collectives.all_reduce,
                                                .all_gather = s.collectives.all_gather,
                                                .fault = fault});
                    return fmt::format("{:.17g}", off(apart, mlp, y));
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

// Doubles of hidden (column_only) and y, as the algorithms of the scenario move them.
Figures figures_of(const Settings& s, MlpSplit split, int rank) {
  constexpr std::size_t hidden = bench_tokens.size() * 8;
  constexpr std::size_t y = bench_tokens.size() * 4;
  constexpr std::size_t element = sizeof(double);
  const AxisGroup all(s, {Axis::tp, Axis::cp, Axis::pp, Axis::dp}, rank);
  if (split != MlpSplit::column_only) {
    return all_reduce_elements(s, all, y, y * element) * element;
  }
  Figures both = all_gather_elements(s, all, hidden, hidden * element);
  both += all_gather_elements(s, all, y, y * element);
  return both * element;
}

std::vector<TrafficComparison> traffic(const Settings& s, const JobResult& job) {
  const MlpSplit split = parse_mlp_split(s.parallel.split);
  const bool gathers = split == MlpSplit::column_only;
  std::vector<TrafficComparison> rows;
  for (int r = 0; r < s.ranks; ++r) {
    const Figures formula = figures_of(s, split, r);
    TrafficComparison row{.rank = r,
                          .operation = gathers ? "all_gather" : "all_reduce",
                          .label = gathers ? "hidden, y" : "y",
                          .formula = gathers ? "(p-1)/p (5 x 8 + 5 x 4) 8" : "2(p-1)/p 5 x 4 x 8",
                          .sent_formula = formula.sent,
                          .received_formula = formula.received};
    for (const auto& sum : job.ranks[static_cast<std::size_t>(r)].report.sums) {
      row.sent += sum.sent_bytes;
      row.received += sum.received_bytes;
    }
    rows.push_back(row);
  }
  return rows;
}

Checks sent_and_received(const Settings& s, const std::vector<TrafficComparison>& rows) {
  std::int64_t sent = 0;
  std::int64_t formula = 0;
  std::int64_t differing = 0;
  for (const auto& row : rows) {
    sent += row.sent;
    formula += row.sent_formula;
    differing += row.sent != row.sent_formula;
    differing += row.received != row.received_formula.value_or(row.received);
  }
  const auto column_row = s.ranks * sent_by_split(MlpSplit::column_row, s.ranks);
  return {equal("split.bytes_sent", sent, formula, "bytes",
                "all ranks; columns and then rows, with rings: " + std::to_string(column_row)),
          equal("traffic.figures_that_differ", differing, 0, "figures",
                "sent and received, every rank, to the byte")};
}

Check model_state(const Settings& s, const JobResult& job) {
  const MlpSplit split = parse_mlp_split(s.parallel.split);
  std::int64_t most = 0;
  for (const auto& rank : job.ranks) {
    most = std::max(most, rank.report.memory.peak[static_cast<std::size_t>(Category::weights)]);
  }
  return equal("model_state.of_a_rank", most, weights_of_split(split, s.ranks), "bytes",
               fmt::format("the most of any rank: weights, {}; the whole MLP is {}",
                           split == MlpSplit::row_first ? "A / p and all of B" : "(A + B) / p",
                           weights_of_split(split, 1)));
}

}  // namespace

RunReport run_split_scenario(const Settings& s, const JobOptions& options) {
  const Outcome outcome = run(s, options, Fault::none);
  RunReport report{
      .settings = s,
      .headline = fmt::format("{}: gelu(x A) B of 5 tokens, 4 x 8 x 4, in f64, on {}, cut {}",
                              s.name, plural(s.ranks, "rank"), s.parallel.split),
      .first_sample = "小明|把|苹果|给了|小王",
      .traffic = traffic(s, outcome.job),
      .job = outcome.job};
  report.checks = {difference(s, outcome)};
  for (const Check& check : sent_and_received(s, report.traffic)) {
    report.checks.push_back(check);
  }
  report.checks.push_back(model_state(s, outcome.job));
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
