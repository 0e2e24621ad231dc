#include "models/optimizer.hpp"

#include <cmath>

#include "runtime/errors.hpp"

namespace ringside {

namespace {

Tensor state_like(DeviceMemory& memory, const Parameter& p, const std::string& what) {
  return {memory, p.value.dtype(), p.value.shape(), Category::optimizer_state, p.name + what};
}

class Sgd : public Optimizer {
 public:
  Sgd(const OptimizerConfig& config, DeviceMemory& memory, std::vector<Parameter*> parameters)
      : config_(config), parameters_(std::move(parameters)) {
    for (const Parameter* p : parameters_) {
      velocity_.push_back(state_like(memory, *p, ".velocity"));
    }
  }

  void step() override {
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      parameters_[i]->value.dtype() == DType::f32 ? update<float>(i) : update<double>(i);
    }
  }

 private:
  template <class T>
  void update(std::size_t i) {
    const auto value = parameters_[i]->value.template as<T>();
    const auto grad = parameters_[i]->grad.template as<T>();
    const auto velocity = velocity_[i].template as<T>();
    const auto momentum = static_cast<T>(config_.momentum);
    const auto lr = static_cast<T>(config_.lr);
    for (std::size_t e = 0; e < value.size(); ++e) {
      velocity[e] = momentum * velocity[e] + grad[e];
      value[e] -= lr * velocity[e];
    }
  }

  OptimizerConfig config_;
  std::vector<Parameter*> parameters_;
  std::vector<Tensor> velocity_;
};

class AdamW : public Optimizer {
 public:
  AdamW(const OptimizerConfig& config, DeviceMemory& memory, std::vector<Parameter*> parameters)
      : config_(config), parameters_(std::move(parameters)) {
    for (const Parameter* p : parameters_) {
      first_.push_back(state_like(memory, *p, ".exp_avg"));
      second_.push_back(state_like(memory, *p, ".exp_avg_sq"));
    }
  }

  void step() override {
    ++steps_;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      parameters_[i]->value.dtype() == DType::f32 ? update<float>(i) : update<double>(i);
    }
  }

 private:
  template <class T>
  void update(std::size_t i) {
    const auto value = parameters_[i]->value.template as<T>();
    const auto grad = parameters_[i]->grad.template as<T>();
    const auto m = first_[i].template as<T>();
    const auto v = second_[i].template as<T>();
    const auto b1 = static_cast<T>(config_.beta1);
    const auto b2 = static_cast<T>(config_.beta2);
    const auto eps = static_cast<T>(config_.eps);
    const auto decay = static_cast<T>(1 - config_.lr * config_.weight_decay);
    const auto rate = static_cast<T>(config_.lr / (1 - std::pow(config_.beta1, steps_)));
    const auto root = static_cast<T>(std::sqrt(1 - std::pow(config_.beta2, steps_)));
    for (std::size_t e = 0; e < value.size(); ++e) {
      m[e] = b1 * m[e] + (T(1) - b1) * grad[e];
      v[e] = b2 * v[e] + (T(1) - b2) * grad[e] * grad[e];
      value[e] = value[e] * decay - rate * m[e] / (std::sqrt(v[e]) / root + eps);
    }
  }

  OptimizerConfig config_;
  std::vector<Parameter*> parameters_;
  std::vector<Tensor> first_;
  std::vector<Tensor> second_;
  double steps_ = 0;
};

}  // namespace

std::unique_ptr<Optimizer> make_optimizer(const OptimizerConfig& config, DeviceMemory& memory,
                                          std::vector<Parameter*> parameters) {
  if (config.kind == "sgd") {
    return std::make_unique<Sgd>(config, memory, std::move(parameters));
  }
  if (config.kind == "adamw") {
    return std::make_unique<AdamW>(config, memory, std::move(parameters));
  }
  throw BadUse("there is no optimizer \"" + config.kind + "\": choose sgd or adamw");
}

}  // namespace ringside
