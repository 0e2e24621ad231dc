// A product of parallel dimensions as it is planned, before any rank starts. What can be planned
// and what can be run is decided here, for both.
#pragma once

#include <cstddef>
#include <string>

#include "models/gpt_config.hpp"
#include "models/published_model.hpp"
#include "parallel/mesh.hpp"
#include "parallel/pipeline/generators.hpp"
#include "parallel/pipeline/stage_split.hpp"

namespace ringside {

struct MeshPlan {
  MeshShape mesh{};
  int ep = 1;
  bool sequence_parallel = false;
  std::string cp_form = "ring";  // or "ulysses"
  int zero = 0;                  // stage; 0: whole gradients, all-reduced
  std::string schedule = "1f1b";
  int chunks = 1;  // of interleaved: stages of a device
  int microbatches = 1;
  std::size_t batch = 1;  // samples of a step, over all ranks
};

// Throw BadUse, with the numbers and the nearest choices that would do: for a mesh whose degrees
// are not the number of ranks; for what tensor parallelism (gpt_cut.hpp, published_cut.hpp),
// Ulysses, the schedule, or the stages cannot cut; for experts that ep does not divide, or that
// there are none of; for sequence parallelism without tensor parallelism, and a batch with fewer
// samples than micro-batches. `experts`: of a mixture; 0: dense.
void require_usable(const MeshPlan& plan, const GptConfig& model, int ranks,
                    std::size_t experts = 0);
void require_usable(const MeshPlan& plan, const PublishedModel& model, int ranks);

// What the schedule's generator is asked for: pp devices.
PipelineShape pipeline_shape(const MeshPlan& plan);

// Throws what make_schedule does.
Schedule schedule_of(const MeshPlan& plan);

}  // namespace ringside
