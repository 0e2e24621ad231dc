// `mesh --json`.
#include "parallel/pipeline/timing.hpp"
#include "parallel/plan_share.hpp"
#include "scenarios/mesh_grid.hpp"
#include "scenarios/mesh_groups.hpp"
#include "scenarios/mesh_report.hpp"

namespace ringside {

namespace {

using Json = nlohmann::ordered_json;

Json places_of(const MeshPlan& plan, int rank) {
  const Mesh mesh(plan.mesh, rank);
  Json places;
  for (const Axis axis : all_axes) {
    places[std::string(name_of(axis))] = mesh.at(axis);
  }
  places["ep"] = expert_place(mesh, plan.ep);
  return places;
}

Json grid_of(const MeshRequest& request) {
  Json grid = Json::array();
  for (int r = 0; r < request.plan.mesh.ranks(); ++r) {
    Json row{{"rank", r}, {"node", request.cluster.node_of(r)}};
    row.update(places_of(request.plan, r));
    grid.push_back(std::move(row));
  }
  return grid;
}

Json plan_json(const MeshRequest& request) {
  const MeshPlan& plan = request.plan;
  return {{"ranks", plan.mesh.ranks()},
          {"nodes", request.cluster.nodes(plan.mesh.ranks())},
          {"gpus_per_node", request.cluster.gpus_per_node},
          {"tp", plan.mesh.tp},
          {"cp", plan.mesh.cp},
          {"pp", plan.mesh.pp},
          {"dp", plan.mesh.dp},
          {"ep", plan.ep},
          {"order", text_of(plan.mesh.order)},
          {"sp", plan.sequence_parallel},
          {"zero", plan.zero},
          {"cp_form", plan.cp_form},
          {"schedule", plan.schedule},
          {"chunks", plan.chunks},
          {"microbatches", plan.microbatches},
          {"batch", plan.batch},
          {"config", request.model.config.name},
          {"sequence", request.sequence},
          {"blocks_of_stages", blocks_of_stages(plan, request.model)}};
}

Json groups_json(const MeshRequest& request) {
  Json groups = Json::array();
  for (const RankGroup& group : groups_of(request)) {
    groups.push_back({{"group", group.name},
                      {"place", group.place},
                      {"members", group.members},
                      {"nodes", group.nodes},
                      {"link", name_of(group.link)}});
  }
  return groups;
}

Json sendings_json(const std::vector<PlannedSending>& sendings) {
  Json rows = Json::array();
  for (const PlannedSending& s : sendings) {
    rows.push_back({{"group", s.group},
                    {"members", s.members},
                    {"operation", s.operation},
                    {"what", s.what},
                    {"link", name_of(s.link)},
                    {"bytes", s.bytes},
                    {"provenance", "formula"},
                    {"formula", s.formula},
                    {"time_ps", s.time.count()}});
  }
  return rows;
}

Json heaviest_json(const std::vector<PlannedSending>& sendings) {
  const auto sums = sums_of(sendings);
  const GroupSum* most = heaviest(sums);
  return most == nullptr ? Json()
                         : Json{{"group", most->group},
                                {"link", name_of(most->link)},
                                {"bytes", most->bytes},
                                {"time_ps", most->time.count()}};
}

Json bubble_json(const MeshPlan& plan) {
  if (plan.mesh.pp == 1) {
    return {};
  }
  const ScheduleTiming timing = time_of(schedule_of(plan));
  return {{"bubble_over_ideal", timing.bubble_over_ideal().value()},
          {"bubble_over_ideal_exact", timing.bubble_over_ideal().text()},
          {"bubble_over_total", timing.bubble_over_total().value()},
          {"bubble_over_total_exact", timing.bubble_over_total().text()}};
}

Json rank_json(const MeshRequest& request) {
  const PlanShare share = share_of(request.plan, request.model, request.rank);
  const auto sendings = planned_sendings(request.plan, request.model, request.sequence,
                                         request.cluster, request.rank);
  Json stages = Json::array();
  for (const StageShare& stage : share.stages) {
    stages.push_back(stage.stage);
  }
  return {{"rank", request.rank},
          {"node", request.cluster.node_of(request.rank)},
          {"places", places_of(request.plan, request.rank)},
          {"stages", stages},
          {"layers", share.blocks},
          {"parameters", share.dense + share.experts},
          {"state_bytes", state_bytes(request.plan, share)},
          {"groups", groups_json(request)},
          {"sent", sendings_json(sendings)},
          {"heaviest", heaviest_json(sendings)}};
}

}  // namespace

Json mesh_json(const MeshRequest& request) {
  return {{"verb", "mesh"},
          {"verdict", "pass"},
          {"plan", plan_json(request)},
          {"grid", grid_of(request)},
          {"rank", rank_json(request)},
          {"bubble", bubble_json(request.plan)}};
}

}  // namespace ringside
