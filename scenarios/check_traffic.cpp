// Traffic: the bytes that the run counted beside those of the formula, for every rank.
#include <algorithm>

#include "scenarios/checks.hpp"
#include "scenarios/context_formula.hpp"
#include "scenarios/expert_traffic.hpp"
#include "scenarios/inputs.hpp"
#include "scenarios/model_settings.hpp"
#include "scenarios/pipeline_formula.hpp"
#include "scenarios/tensor_formula.hpp"
#include "scenarios/traffic_formula.hpp"

namespace ringside {

namespace {

// What the run counted under operation and label.
template <class Wanted>
Figures counted(const RankReport& report, std::string_view operation, Wanted wanted,
                Held held = Held::dense) {
  Figures figures;
  for (const auto& sum : report.sums) {
    if (std::string_view(sum.group) == (held == Held::dense ? "dp" : "edp") &&
        std::string_view(sum.operation) == operation && wanted(std::string_view(sum.label))) {
      figures += {sum.sent_bytes, sum.received_bytes};
    }
  }
  return figures;
}

bool is_gradient(std::string_view label) {
  return label.starts_with("grad.bucket.");
}

bool is_parameter(std::string_view label) {
  return label.starts_with("param.bucket.");
}

TrafficComparison compare(int rank, std::string operation, std::string label, std::string formula,
                          Figures seen, Figures expected) {
  return {rank,      std::move(operation), std::move(label),          std::move(formula),
          seen.sent, expected.sent,        seen.received.value_or(0), expected.received};
}

// What travels between the ranks that share a model.
std::vector<TrafficComparison> compare_tensor_traffic(const Settings& s, const JobResult& job) {
  const std::string_view text = text_of(s);
  const auto counted_under = [](const RankReport& report, auto wanted) {
    Figures figures;
    for (const auto& sum : report.sums) {
      if (std::string_view(sum.group).starts_with("tp") && wanted(std::string_view(sum.label))) {
        figures += {sum.sent_bytes, sum.received_bytes};
      }
    }
    return figures;
  };
  const std::string operation = s.parallel.sp ? "rs + ag" : "all_reduce";
  std::vector<TrafficComparison> rows;
  for (int r = 0; r < s.ranks; ++r) {
    const RankReport& report = job.ranks[static_cast<std::size_t>(r)].report;
    rows.push_back(
        compare(r, operation, "layers.*", "4 * 2(t-1)/t tokens hidden bytes a layer",
                counted_under(report, [](auto label) { return label.starts_with("layers."); }),
                blocks_formula(s, text, r)));
    rows.push_back(
        compare(r, operation, "embed, head", "2 * 2(t-1)/t tokens hidden bytes",
                counted_under(report, [](auto l) { return l == "embed" || l == "head"; }),
                ends_formula(s, text, r)));
    rows.push_back(compare(r, "all_reduce", "softmax", "2(t-1)/t 24 bytes a token",
                           counted_under(report, [](auto label) { return label == "loss"; }),
                           softmax_formula(s, text, r)));
    rows.push_back(compare(r, "all_reduce", "copies", "gradients held in parts; the norm",
                           counted_under(report,
                                         [](auto label) {
                                           return label.starts_with("grad.") ||
                                                  label == "gradient_norm";
                                         }),
                           copies_formula(s, r)));
  }
  return rows;
}

// What attention sends between the ranks that share samples.
std::vector<TrafficComparison> compare_context_traffic(const Settings& s, const JobResult& job) {
  const std::string_view text = text_of(s);
  std::vector<TrafficComparison> rows;
  for (int r = 0; r < s.ranks; ++r) {
    Figures figures;
    for (const auto& sum : job.ranks[static_cast<std::size_t>(r)].report.sums) {
      if (std::string_view(sum.group) == "cp") {
        figures += {sum.sent_bytes, sum.received_bytes};
      }
    }
    rows.push_back(compare(r, context_operation(s), "layers.*", context_formula_text(s), figures,
                           context_formula(s, text, r)));
  }
  return rows;
}

// What travels between the stages of a pipeline.
std::vector<TrafficComparison> compare_pipeline_traffic(const Settings& s, const JobResult& job) {
  const std::string_view text = text_of(s);
  std::vector<TrafficComparison> rows;
  for (int r = 0; r < s.ranks; ++r) {
    const RankReport& report = job.ranks[static_cast<std::size_t>(r)].report;
    const auto under = [&](std::string_view group, std::string_view labels) {
      Figures figures;
      for (const auto& sum : report.sums) {
        const std::string_view label = sum.label;
        if (std::string_view(sum.group) == group &&
            (labels == "numbers" ? label == "loss" || label == "norm"
                                 : label.starts_with(labels)) &&
            (!labels.empty() || label.empty())) {
          figures += {sum.sent_bytes, sum.received_bytes};
        }
      }
      return figures;
    };
    rows.push_back(compare(r, "send", "stages", "tokens hidden bytes a border and microbatch, x 2",
                           under("pp", ""), stages_formula(s, text, r)));
    rows.push_back(compare(r, "all_reduce", "loss, norm", "16 bytes a step, over the devices",
                           under("pp", "numbers"), stage_numbers_formula(s, r)));
    rows.push_back(compare(r, "all_reduce", "copies", "n, of what two devices hold",
                           under("pp.copies", "grad."), stage_copies_formula(s, r)));
  }
  return rows;
}

}  // namespace

std::vector<TrafficComparison> compare_traffic(const Settings& s, const JobResult& job,
                                               const Reference& truth) {
  std::vector<TrafficComparison> rows;
  if (s.parallel.tp > 1) {
    rows = compare_tensor_traffic(s, job);
  }
  if (s.parallel.cp > 1) {
    const auto more = compare_context_traffic(s, job);
    rows.insert(rows.end(), more.begin(), more.end());
  }
  if (s.parallel.pp > 1) {
    const auto more = compare_pipeline_traffic(s, job);
    rows.insert(rows.end(), more.begin(), more.end());
  }
  if (has_experts(s)) {
    const auto more =
        compare_expert_traffic(s, count_routing(s, plan_of(s, text_of(s)), truth), job);
    rows.insert(rows.end(), more.begin(), more.end());
  }
  for (int r = 0; r < s.ranks; ++r) {
    const RankReport& report = job.ranks[static_cast<std::size_t>(r)].report;
    const std::string reduction = gradient_operation(s);
    for (const Held held : parts_held(s)) {
      const std::string of = held == Held::dense ? "" : " of experts";
      rows.push_back(compare(r, reduction, "gradients" + of, gradient_formula_text(s),
                             counted(report, reduction, is_gradient, held),
                             gradient_formula(s, r, held)));
      if (s.parallel.zero > 0) {
        rows.push_back(compare(r, "all_gather", "parameters" + of, parameter_formula_text(s),
                               counted(report, "all_gather", is_parameter, held),
                               parameter_formula(s, r, held)));
      }
      rows.push_back(compare(r, "broadcast", "weights" + of, weight_formula_text(s),
                             counted(
                                 report, "broadcast", [](std::string_view) { return true; }, held),
                             weight_formula(s, r, held)));
    }
    rows.push_back(compare(
        r, "all_reduce", number_labels(s), number_formula_text(s),
        counted(report, "all_reduce",
                [](std::string_view l) { return l == "loss" || l == "tokens" || l == "norm"; }),
        number_formula(s, r)));
    if (s.dp.sync_batch_norm) {
      rows.push_back(compare(
          r, "all_reduce", "statistics", "2(p-1)/p 8 (4 hidden + 1) a layer",
          counted(report, "all_reduce", [](auto label) { return label.ends_with(".statistics"); }),
          statistics_formula(s, r)));
    }
  }
  return rows;
}

namespace {

std::int64_t busiest_receiver(const Settings& s, const JobResult& job, const Reference& truth) {
  std::int64_t most = 0;
  for (const auto& row : compare_traffic(s, job, truth)) {
    most = std::max(most, row.label == "gradients" ? row.received : 0);
  }
  return most;
}

// What the figures were held to, every rank's.
std::string compared(const std::vector<TrafficComparison>& rows) {
  const auto claimed =
      std::find_if(rows.begin(), rows.end(), [](const auto& row) { return !row.received_formula; });
  return claimed == rows.end()
             ? "sent and received, every rank, to the byte"
             : "every rank, to the byte; of " + claimed->operation +
                   " what is sent, by the algorithm's own claim: no formula says what is received";
}

}  // namespace

// The same training with the peer scenario's all-reduce: whose busiest rank receives less?
Checks check_busiest(const CheckContext& context) {
  Settings other = context.settings;
  other.collectives.all_reduce = peer_of(other).collectives.all_reduce;
  if (other.collectives.all_reduce == context.settings.collectives.all_reduce) {
    return {
        {.name = "busiest.rank_receives",
         .measured = "same all-reduce",
         .gate = "another than the peer's",
         .verdict = CheckVerdict::not_applicable,
         .note = context.settings.checks.peer + " takes " + other.collectives.all_reduce + " too"}};
  }
  const auto there = context.run(other, context.truth);
  const std::int64_t mine = busiest_receiver(context.settings, context.main.job, context.truth);
  const std::int64_t theirs = busiest_receiver(other, there.job, context.truth);
  const bool plain = context.settings.collectives.all_reduce == "naive";
  return {lesson(
      holds("busiest.rank_receives", plain ? mine >= theirs : mine <= theirs, std::to_string(mine),
            (plain ? ">= " : "<= ") + std::to_string(theirs) + " bytes",
            "bytes of gradients; the other figure is with " + other.collectives.all_reduce))};
}

namespace {

// Of gradients and parameters, all ranks: as much as an all-reduce of the gradients, or half more.
Check check_beside_data_parallelism(const Settings& s, const std::vector<TrafficComparison>& rows) {
  Settings dp = s;
  dp.parallel.zero = 0;
  dp.collectives.all_reduce = "ring";
  std::int64_t sent = 0;
  std::int64_t of_dp = 0;
  for (const auto& row : rows) {
    sent += row.label == "gradients" || row.label == "parameters" ? row.sent : 0;
    of_dp += row.label == "gradients" ? gradient_formula(dp, row.rank).sent : 0;
  }
  const double times = of_dp == 0 ? 0 : static_cast<double>(sent) / static_cast<double>(of_dp);
  return {.name = "traffic.times_data_parallelism",
          .measured = times,
          .gate = "reported",
          .verdict = CheckVerdict::pass,
          .note = std::to_string(sent) +
                  " bytes of gradients and parameters, all ranks; a ring "
                  "all-reduce of the gradients once a step: " +
                  std::to_string(of_dp)};
}

Check dispatched_in_all(const std::vector<TrafficComparison>& rows) {
  std::int64_t sent = 0;
  std::int64_t formula = 0;
  for (const auto& row : rows) {
    const bool rows_of_tokens =
        row.label.starts_with("dispatch") || row.label.starts_with("combine");
    sent += rows_of_tokens ? row.sent : 0;
    formula += rows_of_tokens ? row.sent_formula : 0;
  }
  return equal("traffic.tokens_sent", sent, formula, "bytes",
               "dispatch and combine, all ranks; the formula counts one process's choices");
}

}  // namespace

Checks check_traffic(const CheckContext& context) {
  const Settings& s = context.settings;
  const auto rows = compare_traffic(s, context.main.job, context.truth);
  std::int64_t differing = 0;
  std::int64_t gradients = 0;
  for (const auto& row : rows) {
    differing += row.sent != row.sent_formula;
    differing += row.received != row.received_formula.value_or(row.received);
    gradients += row.label == "gradients" ? row.sent : 0;
  }
  Checks checks{equal("traffic.figures_that_differ", differing, 0, "figures", compared(rows))};
  std::int64_t whole = 0;
  for (int r = 0; r < s.ranks; ++r) {
    whole += gradient_formula(s, r).sent;
  }
  checks.push_back(
      equal("traffic.gradients_sent", gradients, whole, "bytes", "all ranks together"));
  if (has_experts(s)) {
    checks.push_back(dispatched_in_all(rows));
  }
  if (s.parallel.zero > 0) {
    checks.push_back(check_beside_data_parallelism(s, rows));
  } else if (s.collectives.all_reduce == "naive") {
    checks.push_back(equal("traffic.received_by_rank_0", rows.front().received,
                           gradient_formula(s, 0).received.value(), "bytes", "(p-1) n a step"));
  }
  return checks;
}

}  // namespace ringside
