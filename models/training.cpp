#include "models/training.hpp"

#include <algorithm>
#include <numeric>

#include "models/gradient_norm.hpp"
#include "models/tensor_elements.hpp"

namespace ringside {

namespace {

std::vector<double> values(const Tensor& tensor) {
  std::vector<double> copy;
  with_elements(tensor, [&](auto elements) { copy.assign(elements.begin(), elements.end()); });
  return copy;
}

void divide(const Tensor& tensor, double divisor) {
  with_elements(tensor, [&](auto elements) {
    for (auto& element : elements) {
      element /= static_cast<std::remove_reference_t<decltype(element)>>(divisor);
    }
  });
}

}  // namespace

std::vector<Parameter*> flatten(const std::vector<std::vector<Parameter*>>& layers) {
  std::vector<Parameter*> all;
  for (const auto& layer : layers) {
    all.insert(all.end(), layer.begin(), layer.end());
  }
  return all;
}

void train(const TrainingPlan& plan, const std::vector<Parameter*>& parameters,
           Optimizer& optimizer, const std::function<StepSum(int step)>& gradient,
           const std::function<void(int step, StepRecord)>& on_step) {
  for (int step = 0; step < plan.steps; ++step) {
    const StepSum sum = gradient(step);
    const double tokens = sum.tokens > 0 ? static_cast<double>(sum.tokens) : 1;
    StepRecord record{.loss = sum.loss / tokens / plan.loss_divisor};
    for (const Parameter* p : parameters) {
      divide(p->grad, tokens * plan.loss_divisor);
      record.gradients.push_back(values(p->grad));
    }
    record.gradient_norm = gradient_norm(parameters);
    optimizer.step();
    for (const Parameter* p : parameters) {
      record.parameters.push_back(values(p->value));
    }
    on_step(step, std::move(record));
  }
}

std::vector<StepRecord> train_in_one_process(
    const TrainingPlan& plan,
    const std::function<std::function<StepSum(int step)>(Model& model)>& gradient_of) {
  DeviceMemory memory(memory_estimate(plan, plan.batch));
  ComputeClock clock;
  const auto model = make_model({memory, clock}, plan.model, plan.data.seed);
  const auto parameters = flatten(model->layers());
  const auto optimizer = make_optimizer(plan.optimizer, memory, parameters);
  std::vector<StepRecord> records;
  train(plan, parameters, *optimizer, gradient_of(*model),
        [&](int, StepRecord record) { records.push_back(std::move(record)); });
  return records;
}

std::vector<StepRecord> train_alone(const TrainingPlan& plan) {
  return train_in_one_process(plan, [&](Model& model) {
    return [&](int step) {
      for (const Parameter* p : flatten(model.layers())) {
        with_elements(p->grad, [](auto g) { std::fill(g.begin(), g.end(), 0); });
      }
      const Batch batch = make_batch(plan.data, static_cast<std::uint64_t>(step), 0, plan.batch);
      const double loss = model.forward_backward(batch);
      return StepSum{loss, batch.tokens()};
    };
  });
}

std::size_t memory_estimate(const TrainingPlan& plan, std::uint64_t samples_at_once) {
  std::size_t parameters = 0;
  for (const auto& layer : tensor_counts(plan.model)) {
    parameters = std::accumulate(layer.begin(), layer.end(), parameters);
  }
  const std::size_t sequence = plan.data.sequence + first_sample.size();
  const std::size_t widths = activations_of_a_token(plan.model, sequence);
  const std::size_t tokens = samples_at_once * sequence;
  constexpr std::size_t copies = 6;  // value, two gradients, two of the optimizer, one to spare
  constexpr std::size_t slack = 16UL << 20;
  return slack + 2 * size_of(dtype_of(plan.model)) * (copies * parameters + tokens * widths);
}

}  // namespace ringside
