// Two reductions of a step's gradients, taken as one: dense parameters are summed over all ranks
// that have tokens, experts over those that hold the same.
#pragma once

#include "parallel/data_parallel.hpp"
#include "runtime/comm.hpp"

namespace ringside {

class DenseAndExperts : public GradientReduction, private LayerHooks {
 public:
  // `layers` of a model with a mixture of experts; gradients move into buckets. `dense_group`: all
  // ranks among which a step's tokens are cut; `holders`: of them those with the same experts. Both
  // outlive it.
  DenseAndExperts(Comm& dense_group, Comm& holders, DeviceMemory& memory,
                  const std::vector<std::vector<Parameter*>>& layers,
                  const DataParallelOptions& options);

  // All ranks start from the weights of the first of their group.
  void broadcast_weights();

  void begin_step() override;
  LayerHooks& begin_microbatch(int microbatch, int microbatches) override;
  void end_microbatch() override;
  void end_step() override;

  std::int64_t sum(std::int64_t value, std::string_view label) override {
    return dense_.sum(value, label);
  }

  double sum(double value, std::string_view label) override { return dense_.sum(value, label); }

  Fault fault() const override { return fault_; }

  const std::vector<Bucket>& dense_buckets() const { return dense_.buckets(); }

  const std::vector<Bucket>& expert_buckets() const { return experts_.buckets(); }

 private:
  void after_backward(std::size_t layer) override;

  DataParallel dense_;
  DataParallel experts_;
  std::vector<std::vector<Parameter*>> of_experts_;
  Fault fault_;
  int ep_;
  LayerHooks* dense_hooks_ = nullptr;
  LayerHooks* expert_hooks_ = nullptr;
};

}  // namespace ringside
