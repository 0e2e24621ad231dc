// The training loop, and the truth: one process that trains alone, with no communication in it.
//
// The loop is the same for every form of training; what differs is where a step's gradient comes
// from. Gradients are sums over tokens, divided once by the token count.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "models/data.hpp"
#include "models/model_config.hpp"
#include "models/optimizer.hpp"

namespace ringside {

struct TrainingPlan {
  ModelConfig model;
  OptimizerConfig optimizer;
  DataSource data;
  int steps = 3;
  std::uint64_t batch = 64;  // samples of a step
  double loss_divisor = 1;   // scales loss and gradient down: a gate with slack is then seen
};

// The token sums of one step; their gradient is in the parameters.
struct StepSum {
  double loss = 0;
  std::int64_t tokens = 0;
};

// A step as logged: gradients are means over tokens, parameters those after the update.
struct StepRecord {
  double loss = 0;
  double gradient_norm = 0;                      // summed in f64, rounded once
  std::vector<std::vector<double>> gradients{};  // by tensor
  std::vector<std::vector<double>> parameters{};
};

std::vector<Parameter*> flatten(const std::vector<std::vector<Parameter*>>& layers);

// Runs plan.steps steps: gradient(step) leaves the sum in the parameters' gradients; on_step sees
// the record of each step.
void train(const TrainingPlan& plan, const std::vector<Parameter*>& parameters,
           Optimizer& optimizer, const std::function<StepSum(int step)>& gradient,
           const std::function<void(int step, StepRecord)>& on_step);

// The same in one process of its own: model, optimizer and memory are made here, and gradient_of
// says where the gradient of that model comes from.
std::vector<StepRecord> train_in_one_process(
    const TrainingPlan& plan,
    const std::function<std::function<StepSum(int step)>(Model& model)>& gradient_of);

// One process, the whole batch at once.
std::vector<StepRecord> train_alone(const TrainingPlan& plan);

// Real memory that a model of this plan and its training take in one process, roughly from above.
std::size_t memory_estimate(const TrainingPlan& plan, std::uint64_t samples_at_once);

}  // namespace ringside
