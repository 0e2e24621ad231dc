#include "models/training.hpp"

#include <limits>
#include <numeric>

#include "models/clipping.hpp"
#include "models/gradient_norm.hpp"
#include "models/tensor_elements.hpp"
#include "runtime/errors.hpp"

namespace ringside {

namespace {

std::vector<double> values(const Tensor& tensor) {
  std::vector<double> copy;
  copy.reserve(tensor.meta() ? 0 : tensor.count());
  for_each_element(tensor, [&](auto element) { copy.push_back(static_cast<double>(element)); });
  return copy;
}

void divide(const Tensor& tensor, double divisor) {
  map_elements(tensor,
               [&](auto element) { return element / static_cast<decltype(element)>(divisor); });
}

// Sums become means, and are recorded.
void finish_gradients(const std::vector<Parameter*>& parameters, double divisor,
                      StepRecord& record) {
  for (const Parameter* p : parameters) {
    if (p->trainable) {
      divide(p->grad, divisor);
      record.gradients.push_back(values(p->grad));
    } else {
      record.gradients.emplace_back();
    }
  }
}

// Clips, or says that the step is to be skipped.
void judge_norm(const TrainingPlan& plan, const std::vector<Parameter*>& parameters,
                StepRecord& record) {
  if (plan.clip == 0 && !plan.loss_scaling) {
    return;
  }
  const double norm = record.gradient_norm;
  const auto factor =
      clip_factor(norm, plan.clip == 0 ? std::numeric_limits<double>::max() : plan.clip);
  record.skipped = !factor;
  if (factor) {
    record.clip_factor = *factor;
    scale_gradients(parameters, *factor);
  }
}

}  // namespace

void zero_gradients(const std::vector<Parameter*>& parameters) {
  for (const Parameter* p : parameters) {
    if (p->trainable) {
      map_elements(p->grad, [](auto g) { return decltype(g)(0); });
    }
  }
}

std::vector<Parameter*> flatten(const std::vector<std::vector<Parameter*>>& layers) {
  std::vector<Parameter*> all;
  for (const auto& layer : layers) {
    all.insert(all.end(), layer.begin(), layer.end());
  }
  return all;
}

void train(const TrainingPlan& plan, const std::vector<Parameter*>& parameters,
           Optimizer& optimizer, const std::function<StepSum(int step)>& gradient,
           const std::function<void(int step, StepRecord)>& on_step, const TrainingSeams& seams) {
  if (plan.loss_scaling && !seams.scale_loss) {
    throw BadUse("loss scaling is asked for, but nobody multiplies the loss: give scale_loss");
  }
  LossScale scale(plan.loss_scaling.value_or(LossScaling{.initial = 1}));
  if (plan.start && plan.loss_scaling && plan.loss_scaling->dynamic) {
    scale.restore(plan.start->loss_scale);
  }
  for (int step = 0; step < plan.steps; ++step) {
    StepRecord record{.loss_scale = plan.loss_scaling ? scale.value() : 1};
    if (seams.scale_loss) {
      seams.scale_loss(record.loss_scale);
    }
    const StepSum sum = gradient(plan.first_step() + step);
    const double tokens = sum.tokens > 0 ? static_cast<double>(sum.tokens) : 1;
    record.loss = sum.loss / tokens / plan.loss_divisor;
    finish_gradients(parameters, tokens * plan.loss_divisor * record.loss_scale, record);
    record.gradient_norm = seams.norm ? seams.norm() : gradient_norm(parameters);
    judge_norm(plan, parameters, record);
    if (!record.skipped) {
      optimizer.step();
    }
    scale.update(record.skipped);
    record.next_scale = plan.loss_scaling ? scale.state() : LossScaleState{};
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
  if (plan.start) {
    load_whole(*plan.start, parameters, *optimizer);
  }
  std::vector<StepRecord> records;
  train(plan, parameters, *optimizer, gradient_of(*model),
        [&](int, StepRecord record) { records.push_back(std::move(record)); },
        {.scale_loss = [&](double scale) { model->scale_loss(scale); }});
  return records;
}

std::vector<StepRecord> train_alone(const TrainingPlan& plan) {
  return train_in_one_process(plan, [&](Model& model) {
    return [&](int step) {
      zero_gradients(flatten(model.layers()));
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
  const std::size_t arithmetic =
      dtype_of(plan.model) == DType::f64 ? 8 : 4;  // bf16 computes in f32
  constexpr std::size_t copies = 6;  // value, two gradients, two of the optimizer, one to spare
  constexpr std::size_t slack = 16UL << 20;
  return slack + 2 * arithmetic * (copies * parameters + tokens * widths);
}

}  // namespace ringside
