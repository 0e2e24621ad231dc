// Experts: where tokens go, who has most to do, and what of the way is hidden.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <numeric>

#include "scenarios/checks.hpp"
#include "scenarios/expert_traffic.hpp"
#include "scenarios/model_settings.hpp"
#include "scenarios/parallel_options.hpp"
#include "scenarios/plural.hpp"

namespace ringside {

namespace {

Check without_experts(std::string name) {
  return {.name = std::move(name),
          .measured = "model.experts = 0",
          .gate = "of a mixture of experts",
          .verdict = CheckVerdict::not_applicable};
}

Check reported(std::string name, nlohmann::json measured, std::string note) {
  return {.name = std::move(name),
          .measured = std::move(measured),
          .gate = "reported",
          .verdict = CheckVerdict::pass,
          .note = std::move(note)};
}

// From the first rank's first step to the last rank's last: without the broadcast of the weights.
Time time_of_steps(const TrainingOutcome& outcome) {
  Time start = outcome.ranks.front().front().start;
  Time end{0};
  for (const auto& rank : outcome.ranks) {
    start = std::min(start, rank.front().start);
    end = std::max(end, rank.back().end);
  }
  return end - start;
}

// By a tenth or more: a reader is to see it.
Check clearly_longer(std::string name, Time here, Time there, std::string note) {
  return lesson(holds(std::move(name), 10 * here > 11 * there, to_string(here),
                      "> 1.1 x " + to_string(there), std::move(note)));
}

std::int64_t across_nodes(const RoutingCounted& counted) {
  std::int64_t copies = 0;
  for (const auto& rank : counted.ranks) {
    copies += rank.out_across;
  }
  return copies;
}

// Bytes of tokens and results between machines, as the run counted them.
std::int64_t tokens_over_ib(const TrainingOutcome& outcome) {
  std::int64_t bytes = 0;
  for (const auto& rank : outcome.job.ranks) {
    for (const auto& sum : rank.report.sums) {
      const std::string_view label(sum.label);
      const bool tokens = label.ends_with(".dispatch") || label.ends_with(".combine");
      bytes += tokens && sum.link == LinkClass::ib ? sum.sent_bytes : 0;
    }
  }
  return bytes;
}

double over_mean(const std::vector<std::int64_t>& rows) {
  const auto sum = std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
  return sum == 0 ? 0
                  : static_cast<double>(*std::ranges::max_element(rows)) *
                        static_cast<double>(rows.size()) / static_cast<double>(sum);
}

// Of the last step: of all layers, which are on the devices of the pipeline.
RoutingOutcome routing_seen(const CheckContext& context) {
  RoutingOutcome seen;
  for (const int r : mesh_of(context.settings, 0).members({Axis::pp})) {
    const RoutingOutcome& here = context.main.ranks[static_cast<std::size_t>(r)].back().routing;
    seen.layers += here.layers;
    seen.balance += here.balance;
    seen.imbalance = std::max(seen.imbalance, here.imbalance);
    seen.choices += here.choices;
    seen.dropped += here.dropped;
  }
  return seen;
}

// Groups are nodes when there are as many, and neighbours share them.
bool groups_are_nodes(const Settings& s) {
  return s.parallel.placement == "neighbours" && s.parallel.ep == s.ranks &&
         s.model.router_groups == s.cluster.nodes && s.ranks % s.cluster.nodes == 0;
}

}  // namespace

namespace {

// A limit of nodes is to spare what it limits: fewer copies than the same routers without it send.
Check check_copies(const CheckContext& context, std::int64_t copies) {
  const Settings& s = context.settings;
  const char* const name = "routing.copies_across_nodes";
  const char* const note = "rows of tokens that leave a machine, one way, all steps and layers";
  if (!groups_are_nodes(s) || s.model.router_top_groups == 0 ||
      s.model.router_top_groups == s.model.router_groups) {
    return reported(name, copies, note);
  }
  Settings unlimited = s;
  unlimited.model.router_top_groups = 0;
  const TrainingPlan plan = plan_of(unlimited, context.text);
  const std::int64_t without =
      across_nodes(count_routing(unlimited, plan, reference_of(unlimited, plan)));
  return beside(name, copies, Than::less, without, " without a limit", note);
}

}  // namespace

Checks check_routing(const CheckContext& context) {
  const Settings& s = context.settings;
  if (!has_experts(s)) {
    return {without_experts("routing.nodes_of_a_token")};
  }
  const RoutingCounted counted = count_routing(s, plan_of(s, context.text), context.truth);
  const RoutingOutcome seen = routing_seen(context);
  const double mean = static_cast<double>(counted.nodes) /
                      static_cast<double>(std::max<std::int64_t>(1, counted.tokens));
  const std::string note = fmt::format("most of any token; {:.3f} on average, of {}", mean,
                                       plural(s.cluster.nodes, "machine"));
  Checks checks;
  if (groups_are_nodes(s) && s.model.router_top_groups > 0) {
    checks.push_back(holds("routing.nodes_of_a_token",
                           counted.most_nodes <= s.model.router_top_groups,
                           std::to_string(counted.most_nodes),
                           "<= " + plural(s.model.router_top_groups, "node"), note));
  } else {
    checks.push_back(reported("routing.nodes_of_a_token", counted.most_nodes, note));
  }
  checks.push_back(check_copies(context, across_nodes(counted)));
  checks.push_back(reported("routing.imbalance", seen.imbalance,
                            "choices of the most chosen expert over the mean, worst layer, last "
                            "step; 1: balanced"));
  checks.push_back(reported("routing.balance_loss", seen.balance / seen.layers,
                            fmt::format("mean of the layers, without its coefficient {}; 1: "
                                        "balanced, {}: all on one",
                                        s.model.balance, s.model.experts)));
  checks.push_back(reported("routing.dropped", seen.dropped,
                            fmt::format("of {} choices in the last step", seen.choices)));
  return checks;
}

Checks check_dispatch_overlap(const CheckContext& context) {
  const Settings& s = context.settings;
  if (!has_experts(s) || s.parallel.microbatches < 2) {
    return {without_experts("dispatch_overlap.time")};
  }
  Settings other = s;
  other.parallel.ep_overlap = !s.parallel.ep_overlap;
  const auto there_run = context.run(other, context.truth);
  const Time here = time_of_steps(context.main);
  const Time there = time_of_steps(there_run);
  bool same = true;
  for (std::size_t r = 0; r < context.main.ranks.size(); ++r) {
    same = same &&
           context.main.ranks[r].back().gradient_hash == there_run.ranks[r].back().gradient_hash;
  }
  const bool on = s.parallel.ep_overlap;
  return {beside("dispatch_overlap.time", here, on ? Than::less : Than::more, there, "",
                 fmt::format("modelled, {}; the other figure is with parallel.ep_overlap = {}",
                             plural(s.train.steps, "step"), other.parallel.ep_overlap)),
          holds("dispatch_overlap.bits", same, same ? "equal" : "differ", "equal",
                "gradients of the last step, with and without")};
}

Checks check_straggler(const CheckContext& context) {
  const Settings& s = context.settings;
  if (!has_experts(s) || s.model.hot == 0) {
    return {without_experts("straggler.time")};
  }
  Settings balanced = s;
  balanced.model.hot = 0;
  const TrainingPlan plan = plan_of(balanced, context.text);
  const Reference truth = reference_of(balanced, plan);
  const auto even = context.run(balanced, truth);
  const double rows = over_mean(count_routing(s, plan_of(s, context.text), context.truth).rows);
  const double rows_even = over_mean(count_routing(balanced, plan, truth).rows);
  const Time here = time_of_steps(context.main);
  const Time there = time_of_steps(even);
  return {lesson(holds("straggler.rows", rows > rows_even, fmt::format("{:.4f}", rows),
                       fmt::format("> {:.4f} without", rows_even),
                       "rows computed by the busiest rank, over the mean of the ranks")),
          clearly_longer(
              "straggler.time", here, there,
              fmt::format("modelled, {} after the first broadcast: all ranks wait for the one with "
                          "hot experts",
                          plural(s.train.steps, "step")))};
}

Checks check_placement(const CheckContext& context) {
  const Settings& s = context.settings;
  if (!has_experts(s)) {
    return {without_experts("placement.across_nodes")};
  }
  if (!AxisGroup(s, expert_group(mesh_of(s, 0), s.parallel.ep), 0).several_nodes) {
    return {{.name = "placement.across_nodes",
             .measured = "one machine",
             .gate = "experts on several",
             .verdict = CheckVerdict::not_applicable,
             .note = "a layer's experts are in one machine, wherever they are placed in it"}};
  }
  const bool random = s.parallel.placement == "random";
  Settings other = s;
  other.parallel.placement = random ? "neighbours" : "random";
  const auto there_run = context.run(other, context.truth);
  const std::int64_t here = tokens_over_ib(context.main);
  const std::int64_t there = tokens_over_ib(there_run);
  const Time time_here = time_of_steps(context.main);
  const Time time_there = time_of_steps(there_run);
  return {
      beside("placement.across_nodes", here, random ? Than::more : Than::less, there, " bytes",
             fmt::format("rows between machines, all ranks; the other figure is with "
                         "parallel.placement = {}",
                         other.parallel.placement)),
      clearly_longer(
          "placement.time", random ? time_here : time_there, random ? time_there : time_here,
          fmt::format("modelled, {} after the first broadcast, placed at random and as neighbours",
                      plural(s.train.steps, "step")))};
}

}  // namespace ringside
