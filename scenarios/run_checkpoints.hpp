// Where a run goes on from, and where it leaves its training.
#pragma once

#include <string_view>

#include "models/training.hpp"
#include "scenarios/run_report.hpp"

namespace ringside {

DataPosition data_position(const Settings& s, const TrainingPlan& plan);

// Before anything runs: the checkpoint is of this training, and one can be written. Throws BadUse.
void check_checkpoints(const Settings& s, std::string_view text);

}  // namespace ringside
