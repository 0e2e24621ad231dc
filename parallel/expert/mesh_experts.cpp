#include "parallel/expert/mesh_experts.hpp"

#include "collectives/all_reduce.hpp"

namespace ringside {

namespace {

std::vector<Axis> axes_of_tokens(bool sequence, std::vector<Axis> axes) {
  if (sequence) {
    axes.insert(axes.begin(), Axis::tp);
  }
  return axes;
}

}  // namespace

MeshExperts::MeshExperts(Rank& rank, const Mesh& mesh, const ExpertPlan& plan,
                         std::optional<TokenBlocks> blocks, bool sequence)
    : plan_(plan),
      together_(rank, "ep", expert_group(mesh, plan.placement.ranks())),
      holders_(rank, "edp", expert_data_group(mesh, plan.placement.ranks())),
      batch_(rank, "batch", mesh.members(axes_of_tokens(sequence, {Axis::cp, Axis::dp}))),
      routing_group_(rank, "routing", mesh.members(axes_of_tokens(sequence, {Axis::cp}))) {
  TokenPlaces places{.blocks = blocks, .block_rank = mesh.at(Axis::cp)};
  if (sequence) {
    places.cut = {mesh.at(Axis::tp), mesh.shape().tp};
  }
  parallel_.emplace(together_, rank.memory(), plan.placement,
                    ExpertParallelOptions{.by_node = plan.by_node,
                                          .all_to_all = plan.all_to_all,
                                          .all_reduce = plan.all_reduce,
                                          .routing_group = &routing_group_,
                                          .places = std::move(places),
                                          .fault = plan.fault});
}

double MeshExperts::sum(double squares) {
  all_reduce(together_, buffer_of(std::span(&squares, 1)), ReduceOp::sum,
             {plan_.all_reduce, "gradient_norm"});
  return squares;
}

void MeshExperts::end_step(Model& model, Comm* copies) {
  std::vector<Comm*> groups{&batch_};
  if (copies != nullptr) {
    groups.push_back(copies);
  }
  routers_ = parallel_->end_step(model, groups);
}

}  // namespace ringside
