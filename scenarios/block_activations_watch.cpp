#include "scenarios/block_activations_watch.hpp"

#include <algorithm>

namespace ringside {

BlockActivationsWatch::BlockActivationsWatch(Rank& rank, Model& model) : rank_(rank) {
  for (std::size_t i = model.layer_count(); i-- > 0;) {
    if (model.layer(i).name().starts_with("layers.")) {
      first_ = i;
      last_ = std::max(last_, i);
    }
  }
}

std::int64_t BlockActivationsWatch::held() const {
  return rank_.memory().ledger().current[static_cast<std::size_t>(Category::activations)];
}

void BlockActivationsWatch::before_backward(std::size_t layer) {
  if (layer != last_) {
    return;
  }
  before_ = held();
  in_flight_ = 0;
  auto& on_charge = rank_.clock().on_charge;
  charged_ = std::exchange(on_charge, [this](std::string_view label, Time start, Time end) {
    in_flight_ = std::max(in_flight_, held() - before_);
    if (charged_) {
      charged_(label, start, end);
    }
  });
}

void BlockActivationsWatch::after_backward(std::size_t layer) {
  if (layer != first_) {
    return;
  }
  kept_ = before_ - held();
  rank_.clock().on_charge = std::move(charged_);
}

}  // namespace ringside
