// A loss that is multiplied before backward, so that small gradients do not vanish in 16 bits
// (Micikevicius et al. 2018, Mixed precision training, section 3.2).
#pragma once

#include <cstdint>

namespace ringside {

// torch.amp.GradScaler's defaults. Powers of two change no bit of a gradient that neither overflows
// nor vanishes.
struct LossScaling {
  double initial = 65'536;
  double growth = 2;
  double backoff = 0.5;
  std::int64_t growth_interval = 2'000;  // steps without an overflow after which it grows
  bool dynamic = true;                   // not: it stays `initial`, and an overflow skips only
};

// Where it stands, so that a training can go on from there.
struct LossScaleState {
  double value = 1;
  std::int64_t good_steps = 0;  // since the last change
};

class LossScale {
 public:
  // Throws BadUse unless 0 < initial, 1 <= growth, 0 < backoff < 1 and 1 <= growth_interval.
  explicit LossScale(LossScaling scaling);

  double value() const { return state_.value; }

  const LossScaleState& state() const { return state_; }

  // Goes on from there.
  void restore(const LossScaleState& state) { state_ = state; }

  // After each step. One whose gradients are not all finite was skipped.
  void update(bool skipped);

 private:
  LossScaling scaling_;
  LossScaleState state_;
};

}  // namespace ringside
