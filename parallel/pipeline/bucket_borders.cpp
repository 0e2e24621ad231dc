#include "parallel/pipeline/bucket_borders.hpp"

namespace ringside {

std::vector<std::size_t> bucket_borders(const Schedule& schedule, const StageSplit& split,
                                        int device, bool tied) {
  const StagePlacement placement(schedule);
  const auto& stages = placement.stages_on(device);
  const int first = placement.devices_of(0).front();
  const int last = placement.devices_of(schedule.stages - 1).front();
  // DualPipe has every stage on two devices, which cut it alike.
  const bool table_apart = tied && first != last && placement.devices_of(0).size() == 1;
  std::vector<std::size_t> borders;
  std::size_t layer = 0;
  for (const int stage : stages) {
    borders.push_back(layer);
    if (table_apart && stage == 0) {  // the embedding comes first
      borders.push_back(layer + 1);
    }
    layer += split[static_cast<std::size_t>(stage)];
    if (table_apart && stage + 1 == schedule.stages) {  // the head comes last
      borders.push_back(layer - 1);
    }
  }
  return borders;
}

}  // namespace ringside
