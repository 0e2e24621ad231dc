// Two micro-batches computed side by side: while the tokens of one travel to experts or back, the
// other is computed (DeepSeek-V3, section 3.2.1, in its plainest form).
#pragma once

#include "models/model.hpp"

namespace ringside {

// Forward and backward of both; gradients are added for `a` first. Returns the sum of their losses.
// `hooks` are called once a layer, for both.
double forward_backward_together(Model& model, const Batch& a, const Batch& b, LayerHooks& hooks);

}  // namespace ringside
