#include "scenarios/mesh_report.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "parallel/pipeline/timing.hpp"
#include "parallel/plan_share.hpp"
#include "runtime/rank_names.hpp"
#include "scenarios/figure.hpp"
#include "scenarios/mesh_grid.hpp"
#include "scenarios/mesh_groups.hpp"
#include "scenarios/text_table.hpp"

namespace ringside {

namespace {

std::string counted(std::size_t count, std::string_view what, std::string_view many = "s") {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : many);
}

std::string degrees(const MeshPlan& plan) {
  std::string text;
  for (const Axis axis : plan.mesh.order) {
    if (plan.mesh.extent(axis) > 1) {
      text +=
          fmt::format("{}{} {}", text.empty() ? "" : " x ", name_of(axis), plan.mesh.extent(axis));
    }
  }
  text = text.empty() ? "alone" : text;
  return plan.ep > 1 ? fmt::format("{}, ep {} in dp x cp", text, plan.ep) : text;
}

std::string headline(const MeshRequest& request) {
  const MeshPlan& plan = request.plan;
  const auto size = [](int value) { return static_cast<std::size_t>(value); };
  std::string text =
      fmt::format("{} on {}, {}: {}\n{} of {}, {} a replica", request.model.config.name,
                  counted(size(plan.mesh.ranks()), "rank"),
                  counted(size(request.cluster.nodes(plan.mesh.ranks())), "node"), degrees(plan),
                  counted(plan.batch, "sample"), counted(request.sequence, "token"),
                  counted(size(plan.microbatches), "micro-batch", "es"));
  text += plan.mesh.order == all_axes ? "" : "; order " + text_of(plan.mesh.order);
  text += plan.sequence_parallel ? "; sequence parallel" : "";
  text += plan.zero > 0 ? fmt::format("; ZeRO {}", plan.zero) : "";
  text += plan.mesh.cp > 1 ? fmt::format("; {} attention", plan.cp_form) : "";
  if (plan.mesh.pp > 1) {
    text += fmt::format("; {}, blocks {}", plan.schedule,
                        split_text(blocks_of_stages(plan, request.model)));
  }
  return text + "\n\n";
}

std::string ranges(const std::vector<std::size_t>& blocks) {
  const std::vector<int> numbers(blocks.begin(), blocks.end());
  return ranges_of(numbers);
}

std::string stages_text(const PlanShare& share) {
  std::vector<int> numbers;
  for (const StageShare& stage : share.stages) {
    numbers.push_back(stage.stage);
  }
  return fmt::format("stage{} {}", numbers.size() == 1 ? "" : "s", ranges_of(numbers));
}

std::string rank_text(const MeshRequest& request, const PlanShare& share) {
  const MeshPlan& plan = request.plan;
  const Mesh mesh(plan.mesh, request.rank);
  std::string text =
      fmt::format("\nrank {}, node {}:", request.rank, request.cluster.node_of(request.rank));
  for (const Axis axis : all_axes) {
    text += fmt::format("{} {} {}", axis == Axis::tp ? "" : ",", name_of(axis), mesh.at(axis));
  }
  if (plan.ep > 1) {
    text += fmt::format(", ep {}", expert_place(mesh, plan.ep));
  }
  text += fmt::format("\n  {}layers {}, {} parameters, model state {} (formula)\n",
                      plan.mesh.pp > 1 ? stages_text(share) + ": " : "", ranges(share.blocks),
                      grouped(static_cast<double>(share.dense + share.experts)),
                      to_string(Bytes{state_bytes(plan, share)}));
  return text;
}

std::string groups_text(const MeshRequest& request) {
  TextTable table({{.title = "group", .left = true},
                   {.title = "size"},
                   {.title = "place"},
                   {.title = "nodes"},
                   {.title = "link", .left = true},
                   {.title = "ranks", .left = true}});
  for (const RankGroup& group : groups_of(request)) {
    if (group.members.size() > 1) {
      table.add({group.name, std::to_string(group.members.size()), std::to_string(group.place),
                 std::to_string(group.nodes), std::string(name_of(group.link)),
                 ranks_text(group.members)});
    }
  }
  return request.plan.mesh.ranks() > 1 ? "\n" + table.text() : "";
}

std::string sendings_text(const std::vector<PlannedSending>& sendings) {
  if (sendings.empty()) {
    return {};
  }
  TextTable table({{.title = "group", .left = true},
                   {.title = "operation", .left = true},
                   {.title = "what", .left = true},
                   {.title = "link", .left = true},
                   {.title = "bytes", .group = "sent in a step (formula)"},
                   {.title = "", .group = "sent in a step (formula)"},
                   {.title = "at bandwidth", .group = "sent in a step (formula)"},
                   {.title = "bytes =", .left = true}});
  for (const PlannedSending& s : sendings) {
    table.add({s.group, s.operation, s.what, std::string(name_of(s.link)), std::to_string(s.bytes),
               to_string(Bytes{s.bytes}), to_string(s.time), s.formula});
  }
  return "\n" + table.text();
}

std::string heaviest_text(const std::vector<PlannedSending>& sendings) {
  const auto sums = sums_of(sendings);
  const GroupSum* most = heaviest(sums);
  if (most == nullptr) {
    return "\n  alone: nothing is sent\n";
  }
  return fmt::format("\n  heaviest: {}, {} over {}, {} at its bandwidth\n", most->group,
                     to_string(Bytes{most->bytes}), name_of(most->link), to_string(most->time));
}

std::string bubble_text(const MeshPlan& plan) {
  if (plan.mesh.pp == 1) {
    return {};
  }
  const ScheduleTiming timing = time_of(schedule_of(plan));
  const auto share = [](const Rational& ratio) {
    return fmt::format("{} = {}", ratio.text(), percent(ratio.value(), 1));
  };
  return fmt::format("  bubble of {} (F = I = W): over ideal {}, over total {}\n", plan.schedule,
                     share(timing.bubble_over_ideal()), share(timing.bubble_over_total()));
}

std::string notes(const MeshRequest& request, const PlanShare& share) {
  std::string text;
  const bool last = share.blocks.back() + 1 == request.model.config.layers;
  if (last && request.model.config.predictors > 0 && request.plan.mesh.tp * request.plan.ep > 1) {
    text +=
        "  the layer that predicts one token more is whole on this rank: tp and ep do not cut it\n";
  }
  if (request.plan.mesh.cp > 1 && request.model.config.delta_net) {
    text +=
        "  cp: full attention only; what linear attention hands from rank to rank is left out\n";
  }
  return text;
}

}  // namespace

std::string mesh_text(const MeshRequest& request) {
  const MeshPlan& plan = request.plan;
  const auto sendings =
      planned_sendings(plan, request.model, request.sequence, request.cluster, request.rank);
  const PlanShare share = share_of(plan, request.model, request.rank);
  return headline(request) + grid_text(plan.mesh, plan.ep, request.cluster) +
         rank_text(request, share) + groups_text(request) + sendings_text(sendings) +
         heaviest_text(sendings) + bubble_text(plan) + notes(request, share);
}

}  // namespace ringside
