// A model without arithmetic: each parameter gets the gradient that the test gives.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "models/model.hpp"
#include "models/tensor_elements.hpp"

namespace ringside {

// What is added to element i of the layer's parameter in each backward.
using GradientOf = std::function<double(std::size_t i)>;

class GivenGradients : public Layer {
 public:
  GivenGradients(Device device, std::string name, std::size_t count, DType dtype, double value,
                 GradientOf gradient)
      : name_(std::move(name)),
        parameter_{.name = name_ + ".weight",
                   .value = Tensor(device.memory, dtype, {count}, Category::weights, name_),
                   .grad = Tensor(device.memory, dtype, {count}, Category::gradients, name_)},
        gradient_(std::move(gradient)) {
    map_elements(parameter_.value, [=](auto v) { return static_cast<decltype(v)>(value); });
  }

  const std::string& name() const override { return name_; }

  Tensor forward(const Tensor& in, Saved& /*saved*/) override { return in; }

  Tensor backward_input(const Tensor& grad_out, Saved& /*saved*/) override { return grad_out; }

  void backward_weight(Saved& /*saved*/) override {
    std::size_t i = 0;
    map_elements(parameter_.grad,
                 [&](auto g) { return g + static_cast<decltype(g)>(gradient_(i++)); });
  }

  std::vector<Parameter*> parameters() override { return {&parameter_}; }

 private:
  std::string name_;
  Parameter parameter_;
  GradientOf gradient_;
};

struct GivenLayer {
  std::size_t count;
  GradientOf gradient;
};

inline std::unique_ptr<Model> given_model(Device device, const std::vector<GivenLayer>& given,
                                          DType dtype = DType::f64, double value = 0) {
  std::vector<std::unique_ptr<Layer>> layers;
  for (const auto& [count, gradient] : given) {
    layers.push_back(std::make_unique<GivenGradients>(
        device, "given." + std::to_string(layers.size()), count, dtype, value, gradient));
  }
  return std::make_unique<Model>(device, 1, std::move(layers),
                                 [](const Tensor& logits, std::span<const std::int32_t>) {
                                   return LossSum{0, logits};
                                 });
}

// One token.
inline Batch one_token() {
  return {.context = 1, .contexts = {0}, .targets = {0}, .lengths = {1}};
}

}  // namespace ringside
