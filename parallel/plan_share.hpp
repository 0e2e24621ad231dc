// What of a published model one rank of a plan has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/published_model.hpp"
#include "parallel/mesh_plan.hpp"
#include "parallel/pipeline/stage_split.hpp"

namespace ringside {

struct StageShare {
  int stage = 0;
  std::size_t blocks = 0;
  bool embedding = false;
  bool head = false;
  std::int64_t seams = 0;       // half-layers that are cut and sewn together
  std::int64_t attentions = 0;  // layers whose keys and values context parallelism exchanges
  std::int64_t mixtures = 0;    // layers with routed experts
};

// Elements of which each of `copies` tensor-parallel ranks has a part of the gradient: copied KV
// heads, and with sequence parallelism what is not cut.
struct PartialGradient {
  std::int64_t elements = 0;
  std::int64_t copies = 1;
};

// Parameters count elements that are trained, of the part that tensor parallelism leaves,
// padding of the vocabulary included. Routed experts are whole on each tensor-parallel rank; the
// vision tower and the layers that predict more tokens are cut by nothing but the pipeline.
struct PlanShare {
  std::vector<StageShare> stages{};   // of the pipeline, ascending
  std::vector<std::size_t> blocks{};  // of the model, ascending
  std::int64_t dense = 0;
  std::int64_t experts = 0;     // of the routed experts that this rank has
  std::int64_t tied_table = 0;  // a table of which another stage has a copy
  std::vector<PartialGradient> partial{};
};

// `plan` is usable. The blocks are dealt out to the stages by number; what comes before the first
// block is in the first stage, what comes after the last in the last.
PlanShare share_of(const MeshPlan& plan, const PublishedModel& model, int rank);

// By number, without what stands before the first and after the last.
StageSplit blocks_of_stages(const MeshPlan& plan, const PublishedModel& model);

// Bytes of weights and gradients in bf16, and masters and Adam's moments in f32, of this rank
// (ZeRO, section 3.1): 16 an element, of which ZeRO cuts 12, 14 or 16 over the ranks with the same
// parameters. Rounded to the nearest byte.
std::int64_t state_bytes(const MeshPlan& plan, const PlanShare& share);

}  // namespace ringside
