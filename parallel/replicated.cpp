#include "parallel/replicated.hpp"

#include <algorithm>

#include "models/gradient_norm.hpp"
#include "models/training.hpp"

namespace ringside {

Replicated::Replicated(Comm& group, DeviceMemory& memory, Model& model, ReplicatedOptions options)
    : model_(model), options_(std::move(options)) {
  if (options_.zero > 0) {
    zero_.emplace(group, memory, model_, options_.sharded);
    return;
  }
  data_.emplace(group, memory, model_.layers(), options_.data);
  data_->broadcast_weights();
}

GradientReduction& Replicated::reduction() {
  if (zero_) {
    return *zero_;
  }
  return *data_;
}

std::vector<Parameter*> Replicated::parameters() {
  if (zero_) {
    return zero_->parameters();
  }
  auto all = flatten(model_.layers());
  std::erase_if(
      all, [this](const Parameter* p) { return options_.data.meant && !options_.data.meant(*p); });
  return all;
}

std::vector<ShardPiece> Replicated::pieces() const {
  return zero_ ? zero_->pieces() : std::vector<ShardPiece>{};
}

double Replicated::sum_of_squares(const ParameterFilter& counts) {
  if (zero_) {
    return zero_->sum_of_squares(counts);
  }
  auto own = parameters();
  std::erase_if(own, [&](const Parameter* p) { return !counts(*p); });
  return ringside::sum_of_squares(own);
}

void Replicated::end_update() {
  if (zero_) {
    zero_->end_update();
  }
}

}  // namespace ringside
