// The checkpoint of a training that goes on over ranks.
#pragma once

#include <vector>

#include "models/training.hpp"
#include "runtime/comm.hpp"

namespace ringside {

// After `steps` steps of the plan, whole on rank 0 of the group, without tensors on the others.
// `parameters`: what this rank has of the weights, whole, cut or in pieces; copies too, which are
// compared. Throws as gather_state does.
Checkpoint gather_checkpoint(Comm& group, const TrainingPlan& plan, int steps,
                             const LossScaleState& loss_scale,
                             const std::vector<Parameter*>& parameters, Optimizer& optimizer);

}  // namespace ringside
