// What a scenario says of its experts.
#pragma once

#include "parallel/expert/mesh_experts.hpp"
#include "scenarios/settings.hpp"

namespace ringside {

// Which rank of an expert-parallel group holds which experts.
Placement placement_of(const Settings& settings);

ExpertPlan expert_plan(const Settings& settings, Fault fault = Fault::none);

// Throws BadUse where the experts' settings cannot run, or say something of no experts.
void check_expert_settings(const Settings& settings);

}  // namespace ringside
