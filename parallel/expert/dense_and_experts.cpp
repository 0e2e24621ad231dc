#include "parallel/expert/dense_and_experts.hpp"

#include "models/tensor_elements.hpp"
#include "parallel/expert/expert_parallel.hpp"

namespace ringside {

namespace {

// What only the dense layers can complete, and a fault that is neither's own.
DataParallelOptions of_experts(DataParallelOptions options) {
  options.complete = nullptr;
  return options;
}

}  // namespace

DenseAndExperts::DenseAndExperts(Comm& dense_group, Comm& holders, DeviceMemory& memory,
                                 const std::vector<std::vector<Parameter*>>& layers,
                                 const DataParallelOptions& options)
    : dense_(dense_group, memory, dense_parameters(layers), options),
      experts_(holders, memory, expert_parameters(layers), of_experts(options)),
      of_experts_(expert_parameters(layers)),
      fault_(options.fault),
      ep_(dense_group.size() / holders.size()) {}

void DenseAndExperts::broadcast_weights() {
  dense_.broadcast_weights();
  experts_.broadcast_weights();
}

void DenseAndExperts::begin_step() {
  dense_.begin_step();
  experts_.begin_step();
}

LayerHooks& DenseAndExperts::begin_microbatch(int microbatch, int microbatches) {
  dense_hooks_ = &dense_.begin_microbatch(microbatch, microbatches);
  expert_hooks_ = &experts_.begin_microbatch(microbatch, microbatches);
  return *this;
}

void DenseAndExperts::after_backward(std::size_t layer) {
  dense_hooks_->after_backward(layer);
  expert_hooks_->after_backward(layer);
}

void DenseAndExperts::end_microbatch() {
  dense_.end_microbatch();
  experts_.end_microbatch();
}

void DenseAndExperts::end_step() {
  dense_.end_step();
  experts_.end_step();
  if (fault_ == Fault::expert_gradient_divided) {
    for (const auto& layer : of_experts_) {
      for (const Parameter* p : layer) {
        map_elements(p->grad, [&](auto g) { return g / static_cast<decltype(g)>(ep_); });
      }
    }
  }
}

}  // namespace ringside
