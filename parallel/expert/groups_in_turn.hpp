// The truth for a mixture of experts: one process that runs the routing groups of a step one after
// the other, those of rank 0 first. No communication.
//
// Capacity and auxiliary loss depend on which tokens are routed together, so the truth routes what
// the ranks route: a micro-batch of a data-parallel rank at a time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/router_state.hpp"
#include "models/training.hpp"

namespace ringside {

// What one layer's router decided for one routing group.
struct RoutedGroup {
  int step = 0;
  int rank = 0;  // data-parallel
  int microbatch = 0;
  std::string label{};  // "layers.0.mlp"
  Routing routing{};
};

struct GroupsInTurn {
  std::vector<StepRecord> steps{};
  std::vector<RoutedGroup> groups{};                // in the order of the forward passes
  std::vector<std::vector<RouterState>> routers{};  // [step][layer], of the whole batch
};

// `ranks`: among which a step's samples are cut. It keeps all activations, whatever the plan says
// of recomputing: what is computed again would be routed again. Throws what make_gpt does.
GroupsInTurn train_groups_in_turn(TrainingPlan plan, int ranks, int microbatches);

// The place of each parameter in the whole model, which is that in a StepRecord, by name.
std::map<std::string, std::size_t> places_by_name(const GptConfig& config);

}  // namespace ringside
