#include "parallel/plan_share.hpp"

#include <algorithm>
#include <array>

#include "models/published_cut.hpp"

namespace ringside {

namespace {

constexpr std::string_view routed = "routed_experts";

std::int64_t elements_of(const std::vector<std::size_t>& shape) {
  std::int64_t product = 1;
  for (const std::size_t extent : shape) {
    product *= static_cast<std::int64_t>(extent);
  }
  return product;
}

bool of_a_block(const PublishedLayer& layer) {
  return layer.name.starts_with("layers.");
}

// The layers in one stage with what stands before the first block, block after block, and what
// stands after the last.
std::vector<std::vector<const PublishedLayer*>> units_of(const PublishedModel& model) {
  std::vector<std::vector<const PublishedLayer*>> units(model.config.layers + 2);
  std::size_t halves = 0;
  for (const PublishedLayer& layer : model.layers) {
    std::size_t unit = halves > 0 ? units.size() - 1 : 0;
    if (of_a_block(layer)) {
      unit = 1 + halves++ / 2;
    }
    units[unit].push_back(&layer);
  }
  return units;
}

StageSplit split_of(const MeshPlan& plan, const PublishedModel& model, std::size_t ends) {
  const int stages = plan.mesh.pp > 1 ? schedule_of(plan).stages : 1;
  return split_by_number(model.config.layers, stages, ends, ends);
}

void add_tensor(PlanShare& share, const MeshPlan& plan, const PublishedTensor& tensor,
                LayerKind kind) {
  if (tensor.group == routed) {
    share.experts += static_cast<std::int64_t>(tensor.count());
    return;
  }
  const PublishedShare part = share_of(tensor, {.rank = 0, .ranks = plan.mesh.tp}, kind);
  const std::int64_t elements = elements_of(part.shape);
  share.dense += elements;
  const bool text = kind != LayerKind::vision && kind != LayerKind::prediction;
  if (part.layout.copies > 1 &&
      (part.layout.partial_gradient || (plan.sequence_parallel && text && tensor.split < 0))) {
    share.partial.push_back({elements, part.layout.copies});
  }
}

void add_layer(PlanShare& share, StageShare& stage, const MeshPlan& plan,
               const PublishedLayer& layer) {
  bool sewn = false;
  const std::int64_t experts_before = share.experts;
  for (const PublishedTensor& tensor : layer.tensors) {
    if (tensor.trained) {
      add_tensor(share, plan, tensor, layer.kind);
      sewn = sewn || (tensor.split == 1 && tensor.group != routed);
    }
  }
  stage.seams += sewn && of_a_block(layer) ? 1 : 0;
  stage.attentions +=
      layer.kind == LayerKind::attention || layer.kind == LayerKind::latent_attention ? 1 : 0;
  stage.mixtures += share.experts > experts_before && of_a_block(layer) ? 1 : 0;
  stage.embedding = stage.embedding || layer.kind == LayerKind::embedding;
  stage.head = stage.head || layer.kind == LayerKind::head;
}

// A tied table is in the embedding's layer; a rank with the head alone has a copy.
void add_tied_table(PlanShare& share, const MeshPlan& plan, const PublishedModel& model) {
  const bool embedding = std::ranges::any_of(share.stages, &StageShare::embedding);
  const bool head = std::ranges::any_of(share.stages, &StageShare::head);
  if (!model.config.tied || embedding == head) {
    return;
  }
  const PublishedTensor& table = model.layers.front().tensors.front();
  const auto part = share_of(table, {.rank = 0, .ranks = plan.mesh.tp}, LayerKind::embedding);
  share.tied_table = elements_of(part.shape);
  share.dense += head ? share.tied_table : 0;
}

}  // namespace

PlanShare share_of(const MeshPlan& plan, const PublishedModel& model, int rank) {
  const int device = Mesh(plan.mesh, rank).at(Axis::pp);
  const auto stages =
      plan.mesh.pp > 1 ? StagePlacement(schedule_of(plan)).stages_on(device) : std::vector{0};
  const auto units = units_of(model);
  const StageSplit split = split_of(plan, model, 1);
  PlanShare share;
  for (const int s : stages) {
    StageShare stage{.stage = s};
    for (const std::size_t unit : layers_of(split, {s})) {
      for (const PublishedLayer* layer : units[unit]) {
        add_layer(share, stage, plan, *layer);
      }
      if (unit > 0 && unit <= model.config.layers) {
        share.blocks.push_back(unit - 1);
        ++stage.blocks;
      }
    }
    share.stages.push_back(stage);
  }
  share.experts /= plan.ep;
  add_tied_table(share, plan, model);
  if (plan.sequence_parallel && share.experts > 0) {
    share.partial.push_back({share.experts, plan.mesh.tp});
  }
  return share;
}

StageSplit blocks_of_stages(const MeshPlan& plan, const PublishedModel& model) {
  return split_of(plan, model, 0);
}

std::int64_t state_bytes(const MeshPlan& plan, const PlanShare& share) {
  const auto cut = [&](std::int64_t elements, std::int64_t ranks) {
    const std::int64_t whole = std::array{16, 4, 2, 0}[static_cast<std::size_t>(plan.zero)];
    return whole * elements + ((16 - whole) * elements + ranks / 2) / ranks;
  };
  const std::int64_t replicas = std::int64_t{plan.mesh.cp} * plan.mesh.dp;
  return cut(share.dense, replicas) + cut(share.experts, replicas / plan.ep);
}

}  // namespace ringside
