// What one rank of a plan sends in a step, by formula (Narayanan et al. 2021; Korthikanti et al.
// 2022; ZeRO; Ring Attention; Ulysses; GShard). bf16 activations, gradients and parameters.
//
// Left out: numbers of 8 bytes (loss, tokens, norm, counts of routed rows), buckets' padding, and
// the weights that are broadcast before the first step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/published_model.hpp"
#include "parallel/mesh_plan.hpp"
#include "parallel/plan_share.hpp"
#include "runtime/topology.hpp"

namespace ringside {

struct PlannedSending {
  std::string group;           // "tp", "cp", "pp", "dp x cp", "ep", "expert dp"
  std::vector<int> members{};  // world ranks; of a send, the two
  std::string operation;       // "all_reduce"
  std::string what;            // "activations of 64 layers"
  std::string formula;
  std::int64_t bytes = 0;  // sent in a step
  LinkClass link = LinkClass::self;
  Time time{0};  // that the bytes take at the link's bandwidth
};

// The group's link: that of its slowest pair.
LinkClass link_of(const Cluster& cluster, const std::vector<int>& members);

// Groups of one rank send nothing and have no row. `sequence`: tokens of a sample. `plan` is
// usable. Where a ring's chunks are unequal, bytes are the mean over the group. Routing is uniform.
std::vector<PlannedSending> planned_sendings(const MeshPlan& plan, const PublishedModel& model,
                                             std::size_t sequence, const Cluster& cluster,
                                             int rank);

}  // namespace ringside
