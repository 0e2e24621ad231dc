#include "parallel/pipeline/parameter_copies.hpp"

#include <algorithm>

#include "collectives/all_reduce.hpp"

namespace ringside {

ParameterCopies::ParameterCopies(Comm& group, const Schedule& schedule, bool tied,
                                 std::string all_reduce)
    : all_reduce_(std::move(all_reduce)) {
  const StagePlacement placement(schedule);
  std::vector<int> devices = placement.devices_of(placement.stages_on(group.rank()).front());
  all_ = devices.size() > 1;
  if (!all_ && tied) {
    devices = {placement.devices_of(0).front(), placement.devices_of(schedule.stages - 1).front()};
  }
  const bool apart = devices.front() != devices.back();
  if (!apart || std::ranges::find(devices, group.rank()) == devices.end()) {
    return;
  }
  std::ranges::transform(devices, devices.begin(), [&](int d) { return group.world_rank(d); });
  holders_ = std::make_unique<Comm>(group.owner(), group.name() + ".copies", devices);
}

void ParameterCopies::sum_gradients(const std::vector<Parameter*>& parameters) {
  for (const Parameter* parameter : parameters) {
    if (parameter->trainable && has_copies(*parameter)) {
      all_reduce(*holders_, parameter->grad.buffer(), ReduceOp::sum,
                 {all_reduce_, "grad." + parameter->name});
    }
  }
}

bool ParameterCopies::counts_here(const Parameter& parameter) const {
  return !has_copies(parameter) || holders_->rank() == 0;
}

bool ParameterCopies::has_copies(const Parameter& parameter) const {
  return holders_ && (all_ || parameter.name == "embed.weight");
}

}  // namespace ringside
