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
  return {beside(
      "across_nodes.time", between, Than::more, within, " inside a machine",
      fmt::format("modelled, {}: {:.1f} times as long on {}{}", plural(s.train.steps, "step"),
                  static_cast<double>(between.count()) / static_cast<double>(within.count()),
                  plural(cluster_of(across).nodes(s.ranks), "machine"),
                  here ? ", as this run is" : ""))};
}

}  // namespace ringside
