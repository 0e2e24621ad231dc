#include "models/optimizer.hpp"

#include <cmath>
#include <cstdint>

#include "models/tensor_elements.hpp"
#include "runtime/errors.hpp"

namespace ringside {

namespace {

std::vector<Tensor> state_like(DeviceMemory& memory, const std::vector<Parameter*>& parameters,
                               const std::string& what) {
  std::vector<Tensor> state;
  for (const Parameter* p : parameters) {
    state.emplace_back(memory, p->value.dtype(), p->value.shape(), Category::optimizer_state,
                       p->name + what);
  }
  return state;
}

class Sgd : public Optimizer {
 public:
  Sgd(const OptimizerConfig& config, DeviceMemory& memory, std::vector<Parameter*> parameters)
      : config_(config), parameters_(std::move(parameters)) {
    if (config_.momentum != 0) {
      velocity_ = state_like(memory, parameters_, ".velocity");
    }
  }

  void step() override {
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      with_elements(parameters_[i]->value, [&](auto value) { update(i, value); });
    }
  }

 private:
  template <class T>
  void update(std::size_t i, std::span<T> value) {
    const std::span<T> grad = parameters_[i]->grad.template as<T>();
    const auto lr = static_cast<T>(config_.lr);
    if (velocity_.empty()) {
      for (std::size_t e = 0; e < value.size(); ++e) {
        value[e] -= lr * grad[e];
      }
      return;
    }
    const std::span<T> velocity = velocity_[i].template as<T>();
    const auto momentum = static_cast<T>(config_.momentum);
    for (std::size_t e = 0; e < value.size(); ++e) {
      velocity[e] = momentum * velocity[e] + grad[e];
      value[e] -= lr * velocity[e];
    }
  }

  OptimizerConfig config_;
  std::vector<Parameter*> parameters_;
  std::vector<Tensor> velocity_;
};

// base^exponent by squaring: the C library's pow has other bits on other processors.
double power(double base, std::int64_t exponent) {
  double result = 1;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) {
      result *= base;
    }
    base *= base;
  }
  return result;
}

class AdamW : public Optimizer {
 public:
  AdamW(const OptimizerConfig& config, DeviceMemory& memory, std::vector<Parameter*> parameters)
      : config_(config),
        parameters_(std::move(parameters)),
        first_(state_like(memory, parameters_, ".exp_avg")),
        second_(state_like(memory, parameters_, ".exp_avg_sq")) {}

  void step() override {
    ++steps_;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      with_elements(parameters_[i]->value, [&](auto value) { update(i, value); });
    }
  }

 private:
  // Constants are formed in f64 and rounded once, as in PyTorch: 1 - 0.9f is not 0.1f.
  template <class T>
  void update(std::size_t i, std::span<T> value) {
    const std::span<T> grad = parameters_[i]->grad.template as<T>();
    const std::span<T> m = first_[i].template as<T>();
    const std::span<T> v = second_[i].template as<T>();
    const auto kept = static_cast<T>(1 - config_.lr * config_.weight_decay);
    const auto beta2 = static_cast<T>(config_.beta2);
    const auto new2 = static_cast<T>(1 - config_.beta2);
    const auto eps = static_cast<T>(config_.eps);
    const auto rate = static_cast<T>(config_.lr / (1 - power(config_.beta1, steps_)));
    const auto root = static_cast<T>(std::sqrt(1 - power(config_.beta2, steps_)));
    for (std::size_t e = 0; e < value.size(); ++e) {
      m[e] = towards(m[e], grad[e]);
      v[e] = v[e] * beta2 + new2 * grad[e] * grad[e];
      value[e] = value[e] * kept - rate * m[e] / (std::sqrt(v[e]) / root + eps);
    }
  }

  // beta1 old + (1 - beta1) now, in the form of torch.lerp.
  template <class T>
  T towards(T old, T now) const {
    const double weight = 1 - config_.beta1;
    return weight < 0.5 ? old + static_cast<T>(weight) * (now - old)
                        : now - (now - old) * (T(1) - static_cast<T>(weight));
  }

  OptimizerConfig config_;
  std::vector<Parameter*> parameters_;
  std::vector<Tensor> first_;
  std::vector<Tensor> second_;
  std::int64_t steps_ = 0;
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
