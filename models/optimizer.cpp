#include "models/optimizer.hpp"

#include <algorithm>
#include <cmath>

#include "models/tensor_elements.hpp"
#include "runtime/errors.hpp"
#include "runtime/reduce.hpp"

namespace ringside {

namespace {

// What is kept for one parameter.
struct State {
  Tensor master;                // of a bf16 parameter, f32
  std::vector<Tensor> moments;  // in the order of the rule's names
  std::int64_t steps = 0;
  bool made = false;
};

class SgdRule {
 public:
  explicit SgdRule(OptimizerConfig config) : config_(std::move(config)) {}

  std::vector<const char*> moments() const {
    return config_.momentum != 0 ? std::vector{".velocity"} : std::vector<const char*>{};
  }

  template <class T, class G>
  void update(const Parameter& /*parameter*/, const State& state, std::span<T> value,
              std::span<const G> grad) const {
    const auto lr = static_cast<T>(config_.lr);
    if (state.moments.empty()) {
      for (std::size_t e = 0; e < value.size(); ++e) {
        value[e] -= lr * static_cast<T>(grad[e]);
      }
      return;
    }
    const std::span<T> velocity = state.moments[0].template as<T>();
    const auto momentum = static_cast<T>(config_.momentum);
    for (std::size_t e = 0; e < value.size(); ++e) {
      velocity[e] = momentum * velocity[e] + static_cast<T>(grad[e]);
      value[e] -= lr * velocity[e];
    }
  }

 private:
  OptimizerConfig config_;
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

class AdamWRule {
 public:
  explicit AdamWRule(OptimizerConfig config) : config_(std::move(config)) {}

  std::vector<const char*> moments() const { return {".exp_avg", ".exp_avg_sq"}; }

  // Constants are formed in f64 and rounded once, as in PyTorch: 1 - 0.9f is not 0.1f.
  template <class T, class G>
  void update(const Parameter& parameter, const State& state, std::span<T> value,
              std::span<const G> grad) const {
    const std::span<T> m = state.moments[0].template as<T>();
    const std::span<T> v = state.moments[1].template as<T>();
    const bool decays = config_.decay_gains || !parameter.gain;
    const auto kept = static_cast<T>(decays ? 1 - config_.lr * config_.weight_decay : 1);
    const auto beta2 = static_cast<T>(config_.beta2);
    const auto new2 = static_cast<T>(1 - config_.beta2);
    const auto eps = static_cast<T>(config_.eps);
    const auto rate = static_cast<T>(config_.lr / (1 - power(config_.beta1, state.steps)));
    const auto root = static_cast<T>(std::sqrt(1 - power(config_.beta2, state.steps)));
    for (std::size_t e = 0; e < value.size(); ++e) {
      const T g = static_cast<T>(grad[e]);
      m[e] = towards(m[e], g);
      v[e] = v[e] * beta2 + new2 * g * g;
      value[e] = value[e] * kept - rate * m[e] / (std::sqrt(v[e]) / root + eps);
    }
  }

 private:
  // beta1 old + (1 - beta1) now, in the form of torch.lerp.
  template <class T>
  T towards(T old, T now) const {
    const double weight = 1 - config_.beta1;
    return weight < 0.5 ? old + static_cast<T>(weight) * (now - old)
                        : now - (now - old) * (T(1) - static_cast<T>(weight));
  }

  OptimizerConfig config_;
};

// Goes over the parameters, whatever the rule.
template <class Rule>
class ByRule : public Optimizer {
 public:
  ByRule(const OptimizerConfig& config, DeviceMemory& memory, std::vector<Parameter*> parameters)
      : rule_(config),
        masters_(config.masters),
        memory_(memory),
        parameters_(std::move(parameters)),
        states_(parameters_.size()) {
    make_missing_states();
  }

  void step() override {
    make_missing_states();
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      if (parameters_[i]->trainable) {
        ++states_[i].steps;
        update(*parameters_[i], states_[i]);
      }
    }
  }

  std::int64_t steps() const override {
    std::int64_t most = 0;
    for (const State& state : states_) {
      most = std::max(most, state.steps);
    }
    return most;
  }

  std::vector<OptimizerState> state() override {
    std::vector<OptimizerState> all;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      if (states_[i].made) {
        auto& kept =
            all.emplace_back(OptimizerState{parameters_[i], states_[i].moments, &states_[i].steps});
        if (states_[i].master) {
          kept.tensors.push_back(states_[i].master);
        }
      }
    }
    return all;
  }

 private:
  void make_missing_states() {
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      if (parameters_[i]->trainable && !states_[i].made) {
        states_[i] = make_state(*parameters_[i]);
      }
    }
  }

  State make_state(const Parameter& p) const {
    const bool half = p.value.dtype() == DType::bf16;
    State state;
    state.made = true;
    for (const char* moment : rule_.moments()) {
      state.moments.emplace_back(memory_, half ? DType::f32 : p.value.dtype(), p.value.shape(),
                                 Category::optimizer_state, p.name + moment);
    }
    if (half && masters_) {
      state.master = in_f32(p, Category::master_weights);
    }
    return state;
  }

  Tensor in_f32(const Parameter& p, Category category) const {
    Tensor copy(memory_, DType::f32, p.value.shape(), category, p.name + ".master");
    convert(p.value.buffer(), copy.buffer());
    return copy;
  }

  void update(const Parameter& p, const State& state) const {
    if (p.value.meta()) {
      return;
    }
    if (p.value.dtype() == DType::bf16) {
      const Tensor wide = state.master ? state.master : in_f32(p, Category::buffers);
      if (wide.meta()) {
        return;
      }
      rule_.template update<float, Bf16>(p, state, wide.as<float>(), p.grad.as<Bf16>());
      convert(wide.buffer(), p.value.buffer());
      return;
    }
    if (p.value.meta()) {
      return;
    }
    with_elements(p.value, [&](auto value) {
      using T = typename decltype(value)::element_type;
      rule_.template update<T, T>(p, state, value, p.grad.template as<T>());
    });
  }

  Rule rule_;
  bool masters_;
  DeviceMemory& memory_;
  std::vector<Parameter*> parameters_;
  std::vector<State> states_;
};

}  // namespace

std::unique_ptr<Optimizer> make_optimizer(const OptimizerConfig& config, DeviceMemory& memory,
                                          std::vector<Parameter*> parameters) {
  if (config.kind == "sgd") {
    return std::make_unique<ByRule<SgdRule>>(config, memory, std::move(parameters));
  }
  if (config.kind == "adamw") {
    return std::make_unique<ByRule<AdamWRule>>(config, memory, std::move(parameters));
  }
  throw BadUse("there is no optimizer \"" + config.kind + "\": choose sgd or adamw");
}

std::string precision_warning(const OptimizerConfig& config, DType weights) {
  if (weights != DType::bf16 || config.masters) {
    return {};
  }
  return "bf16 weights without f32 masters: an update below 1/512 of a weight may leave it as it "
         "is; train with masters";
}

}  // namespace ringside
