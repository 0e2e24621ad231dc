// Where a run goes on from, and where it leaves its training.
#pragma once

#include "models/training.hpp"
#include "scenarios/run_report.hpp"

namespace ringside {

DataPosition data_position(const Settings& s, const TrainingPlan& plan);

// Before anything runs: checkpoints can be written where the scenario wants them. Throws BadUse.
void require_place_for_checkpoints(const Settings& s);

}  // namespace ringside
