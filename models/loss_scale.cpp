#include "models/loss_scale.hpp"

#include <string>

#include "runtime/errors.hpp"

namespace ringside {

LossScale::LossScale(LossScaling scaling) : scaling_(scaling), state_{.value = scaling.initial} {
  const bool usable = scaling.initial > 0 && scaling.growth >= 1 && scaling.backoff > 0 &&
                      scaling.backoff < 1 && scaling.growth_interval >= 1;
  if (!usable) {
    throw BadUse(
        "loss scaling needs initial > 0, growth >= 1, 0 < backoff < 1 and "
        "growth_interval >= 1; they are " +
        std::to_string(scaling.initial) + ", " + std::to_string(scaling.growth) + ", " +
        std::to_string(scaling.backoff) + " and " + std::to_string(scaling.growth_interval));
  }
}

void LossScale::update(bool skipped) {
  if (!scaling_.dynamic) {
    return;
  }
  if (skipped) {
    state_.value *= scaling_.backoff;
    state_.good_steps = 0;
  } else if (++state_.good_steps == scaling_.growth_interval) {
    state_.value *= scaling_.growth;
    state_.good_steps = 0;
  }
}

}  // namespace ringside
