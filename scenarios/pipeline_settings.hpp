// What a scenario says of its pipeline.
#pragma once

#include "parallel/mesh_training.hpp"
#include "scenarios/settings.hpp"

namespace ringside {

// The schedule by its name, or out of a CSV file; valid. Throws BadUse with what disagrees.
Schedule schedule_of(const Settings& settings);

// Layers of each stage of that schedule.
StageSplit split_of(const Settings& settings, int stages);

PipelinePlan pipeline_plan(const Settings& settings);

// Throws BadUse where the pipeline's settings cannot run, or say something of no pipeline.
void check_pipeline_settings(const Settings& settings);

// The stages and layers in words: "3 + 2 + 2 + 4 layers".
std::string stages_text(const Settings& settings);

}  // namespace ringside
