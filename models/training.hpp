// The training loop, and the truth: one process that trains alone, with no communication in it.
//
// The loop is the same for every form of training; what differs is where a step's gradient comes
// from. Gradients are sums over tokens, divided once by the token count.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "models/checkpoint.hpp"
#include "models/data.hpp"
#include "models/loss_scale.hpp"
#include "models/model_config.hpp"
#include "models/optimizer.hpp"

namespace ringside {

struct TrainingPlan {
  ModelConfig model;
  OptimizerConfig optimizer;
  DataSource data;
  int steps = 3;             // from the start on
  std::uint64_t batch = 64;  // samples of a step
  double loss_divisor = 1;   // scales loss and gradient down: a gate with slack is then seen
  double clip = 0;           // the gradient's norm is clipped to it; 0: it is not
  std::optional<LossScaling> loss_scaling{};
  std::shared_ptr<const Checkpoint> start{};  // goes on from there; none: from the seed

  // The number of the first step, which its samples depend on.
  int first_step() const { return start ? static_cast<int>(start->step) : 0; }
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
  std::vector<std::vector<double>> gradients{};  // by tensor, before clipping; empty: frozen
  std::vector<std::vector<double>> parameters{};
  double clip_factor = 1;  // that the gradients were multiplied by
  bool skipped = false;    // no update: the norm was not finite
  double loss_scale = 1;   // of this step
  LossScaleState next_scale{};
};

// What a form of training does in its own way. By default: as one process does.
struct TrainingSeams {
  // The global norm of the gradients, which are means by now; the same number on every rank.
  std::function<double()> norm{};
  // Before each step: losses are multiplied by this before backward (Model::scale_loss).
  std::function<void(double scale)> scale_loss{};
};

void zero_gradients(const std::vector<Parameter*>& parameters);

std::vector<Parameter*> flatten(const std::vector<std::vector<Parameter*>>& layers);

// Runs plan.steps steps: gradient(step) leaves the sum in the parameters' gradients, times the loss
// scale; on_step sees the record of each step, counted from 0 wherever the plan starts. Weights and
// optimizer are what the caller has loaded from the start; the loss scale goes on from it.
//
// With clipping or loss scaling, a step whose norm is infinite or not a number is skipped: no
// weight, moment or step count changes. Throws BadUse for loss scaling without seams.scale_loss.
void train(const TrainingPlan& plan, const std::vector<Parameter*>& parameters,
           Optimizer& optimizer, const std::function<StepSum(int step)>& gradient,
           const std::function<void(int step, StepRecord)>& on_step,
           const TrainingSeams& seams = {});

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
