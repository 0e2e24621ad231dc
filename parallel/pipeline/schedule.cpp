#include "parallel/pipeline/schedule.hpp"

#include <algorithm>
#include <string_view>

namespace ringside {

char letter_of(ActionKind kind) {
  constexpr std::string_view letters = "FBIW";
  return letters[static_cast<std::size_t>(kind)];
}

bool gives_input_gradient(ActionKind kind) {
  return kind == ActionKind::backward || kind == ActionKind::input_gradient;
}

bool gives_weight_gradient(ActionKind kind) {
  return kind == ActionKind::backward || kind == ActionKind::weight_gradient;
}

std::string text_of(const Action& action) {
  return std::to_string(action.stage) + letter_of(action.kind) + std::to_string(action.microbatch);
}

StagePlacement::StagePlacement(const Schedule& schedule)
    : microbatches_(schedule.microbatches),
      device_(static_cast<std::size_t>(schedule.stages) *
              static_cast<std::size_t>(schedule.microbatches)),
      devices_(static_cast<std::size_t>(schedule.stages)),
      stages_(schedule.devices.size()) {
  for (std::size_t d = 0; d < schedule.devices.size(); ++d) {
    for (const Action& action : schedule.devices[d]) {
      const auto stage = static_cast<std::size_t>(action.stage);
      device_[stage * static_cast<std::size_t>(microbatches_) +
              static_cast<std::size_t>(action.microbatch)] = static_cast<int>(d);
      if (devices_[stage].empty() || devices_[stage].back() != static_cast<int>(d)) {
        devices_[stage].push_back(static_cast<int>(d));
        stages_[d].push_back(action.stage);
      }
    }
    std::ranges::sort(stages_[d]);
  }
}

int StagePlacement::device_of(int stage, int microbatch) const {
  return device_[static_cast<std::size_t>(stage) * static_cast<std::size_t>(microbatches_) +
                 static_cast<std::size_t>(microbatch)];
}

const std::vector<int>& StagePlacement::devices_of(int stage) const {
  return devices_[static_cast<std::size_t>(stage)];
}

const std::vector<int>& StagePlacement::stages_on(int device) const {
  return stages_[static_cast<std::size_t>(device)];
}

std::vector<int> weight_gradient_order(const Schedule& schedule, int device, int stage) {
  std::vector<int> order;
  for (const Action& action : schedule.devices[static_cast<std::size_t>(device)]) {
    if (action.stage == stage && gives_weight_gradient(action.kind)) {
      order.push_back(action.microbatch);
    }
  }
  return order;
}

}  // namespace ringside
