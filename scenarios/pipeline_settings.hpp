// What a scenario says of its pipeline.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "parallel/mesh_training.hpp"
#include "scenarios/settings.hpp"

namespace ringside {

// The schedule by its name, or as it was read of a CSV file; valid. Throws BadUse with what
// disagrees.
Schedule schedule_of(const Settings& settings);

// Layers of each stage of that schedule.
StageSplit split_of(const Settings& settings, int stages);

PipelinePlan pipeline_plan(const Settings& settings);

// Throws BadUse where the pipeline's settings cannot run, or say something of no pipeline.
void check_pipeline_settings(const Settings& settings);

// What of a GPT a rank runs a micro-batch through: with a pipeline that of its device's stages.
struct LayersHere {
  int embed = 1;
  int blocks = 0;
  int norm = 1;
  int head = 1;
};

// Without a micro-batch, all that the rank has.
LayersHere layers_here(const Settings& settings, int rank, std::optional<int> microbatch);

// How often ZeRO-3 gathers parameters that these of a device's stages use in a step: for every F
// and B, or, where I and W are apart, once for as long as any W is outstanding.
std::int64_t gathers_of_stages(const Schedule& schedule, int device,
                               const std::vector<int>& stages);

// The stages and layers in words: "3 + 2 + 2 + 4 layers".
std::string stages_text(const Settings& settings);

}  // namespace ringside
