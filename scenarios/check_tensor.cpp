// Tensor parallelism: what sequence parallelism saves, and what it costs to leave the machine.
#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "scenarios/checks.hpp"
#include "scenarios/collective_formula.hpp"
#include "scenarios/model_settings.hpp"
#include "scenarios/outcome_figures.hpp"
#include "scenarios/plural.hpp"

namespace ringside {

namespace {

Check without_tp(std::string name, std::string gate) {
  return {.name = std::move(name),
          .measured = "parallel.tp = 1",
          .gate = std::move(gate),
          .verdict = CheckVerdict::not_applicable};
}

}  // namespace

Checks check_activations(const CheckContext& context) {
  const Settings& s = context.settings;
  if (s.parallel.tp == 1) {
    return {without_tp("activations.peak", "less than without parallel.sp")};
  }
  Settings other = s;
  other.parallel.sp = !s.parallel.sp;
  const std::int64_t here = peak_activations(context.main);
  const std::int64_t there = peak_activations(context.run(other, context.truth));
  return {beside("activations.peak", here, s.parallel.sp ? Than::less : Than::more, there, " bytes",
                 fmt::format("of the rank with most; the other figure is with parallel.sp = {}",
                             other.parallel.sp))};
}

// Whether what is slower across machines is their bandwidth: nearly all of it stays when a message
// between them takes no longer to set out than inside one.
Check by_bandwidth(Time within, Time between, Time with_even_latency, bool is_even) {
  Check check =
      holds("across_nodes.by_bandwidth", true, to_string(with_even_latency),
            "> " + to_string(within) + " inside a machine",
            fmt::format("with the latency of nvlink between machines too{}: {:.1f} times as long",
                        is_even ? ", as it is here" : "",
                        static_cast<double>(with_even_latency.count()) /
                            static_cast<double>(within.count())));
  if (10 * (with_even_latency - within) < 9 * (between - within)) {
    check.verdict = CheckVerdict::not_applicable;
    check.note += ", so that latency decides here";
  }
  return check;
}

Checks check_across_nodes(const CheckContext& context) {
  const Settings& s = context.settings;
  if (s.parallel.tp == 1) {
    return {without_tp("across_nodes.time", "longer than inside a machine")};
  }
  Settings inside = s;
  inside.cluster.nodes = 1;
  inside.cluster.gpus_per_node = s.ranks;
  Settings across = s;
  const bool here = AxisGroup(s, {Axis::tp}, 0).several_nodes;
  if (!here) {
    across.cluster.nodes = s.parallel.tp;
    across.cluster.gpus_per_node = s.ranks / s.parallel.tp;
  }
  const Time within = training_time(context.run(inside, context.truth));
  const Time between = training_time(here ? context.main : context.run(across, context.truth));
  Settings even = across;
  even.links.ib.latency = even.links.nvlink.latency;
  const bool is_even = even.links == across.links;
  const Time with_even_latency =
      is_even ? between : training_time(context.run(even, context.truth));
  return {beside("across_nodes.time", between, Than::more, within, " inside a machine",
                 fmt::format(
                     "modelled, {}: {:.1f} times as long on {}{}", plural(s.train.steps, "step"),
                     static_cast<double>(between.count()) / static_cast<double>(within.count()),
                     plural(cluster_of(across).nodes(s.ranks), "machine"),
                     here ? ", as this run is" : "")),
          by_bandwidth(within, between, with_even_latency, is_even)};
}

}  // namespace ringside
