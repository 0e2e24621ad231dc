#include "parallel/gather_checkpoint.hpp"

#include "models/resume.hpp"
#include "parallel/full_state.hpp"

namespace ringside {

Checkpoint gather_checkpoint(Comm& group, const TrainingPlan& plan, int steps,
                             const LossScaleState& loss_scale,
                             const std::vector<Parameter*>& parameters, Optimizer& optimizer) {
  return {.step = plan.first_step() + steps,
          .training = identity_of(plan),
          .loss_scale = loss_scale,
          .weights = gather_state(group, weight_parts(parameters)),
          .optimizer = gather_state(group, optimizer_parts(optimizer))};
}

}  // namespace ringside
