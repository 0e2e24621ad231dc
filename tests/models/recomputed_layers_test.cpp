// Layers that keep the first one's input alone: the bits of layers that keep everything, in less
// memory and more time.
#include "models/recomputed_layers.hpp"

#include <gtest/gtest.h>

#include "models/linear.hpp"
#include "tests/models/single_device.hpp"

namespace ringside {
namespace {

constexpr std::size_t tokens = 7, width = 5;

std::unique_ptr<Layer> layer(SingleDevice& d, const std::string& name, std::uint64_t seed) {
  return std::make_unique<Linear<float>>(d.device, name, width, width, Activation::tanh, seed);
}

struct Gradients {
  std::vector<std::vector<float>> elements{};  // of the input, then of every parameter
  std::int64_t kept = 0;                       // bytes between forward and backward
  std::int64_t operations = 0;
};

// One pass of two layers, driven one after the other.
Gradients plain(std::uint64_t seed) {
  SingleDevice d;
  const auto first = layer(d, "first", seed);
  const auto second = layer(d, "second", seed + 1);
  const Tensor x = d.tensor<float>({tokens, width}, 1);
  const Tensor grad_out = d.tensor<float>({tokens, width}, 2);
  const std::int64_t before = d.held(Category::activations);
  Saved a, b;
  second->forward(first->forward(x, a), b);
  Gradients result{.kept = d.held(Category::activations) - before};
  const Tensor grad = first->backward_input(second->backward_input(grad_out, b), a);
  second->backward_weight(b);
  first->backward_weight(a);
  result.elements.push_back(copy_of<float>(grad));
  for (const auto& one : {first.get(), second.get()}) {
    for (const Parameter* parameter : one->parameters()) {
      result.elements.push_back(copy_of<float>(parameter->grad));
    }
  }
  result.operations = d.clock.stream().now.count();
  return result;
}

Gradients recomputed(std::uint64_t seed) {
  SingleDevice d;
  std::vector<std::unique_ptr<Layer>> layers;
  layers.push_back(layer(d, "first", seed));
  layers.push_back(layer(d, "second", seed + 1));
  RecomputedLayers both("both", std::move(layers));
  const Tensor x = d.tensor<float>({tokens, width}, 1);
  const Tensor grad_out = d.tensor<float>({tokens, width}, 2);
  const std::int64_t before = d.held(Category::activations);
  Saved saved;
  both.forward(x, saved);
  Gradients result{.kept = d.held(Category::activations) - before};
  result.elements.push_back(copy_of<float>(both.backward_input(grad_out, saved)));
  both.backward_weight(saved);
  EXPECT_TRUE(saved.tensors.empty() && saved.parts.empty());
  EXPECT_EQ(d.held(Category::activations), before);
  for (const Parameter* parameter : both.parameters()) {
    result.elements.push_back(copy_of<float>(parameter->grad));
  }
  result.operations = d.clock.stream().now.count();
  return result;
}

TEST(RecomputedLayers, HaveTheBitsOfThoseThatKeepEverything) {
  EXPECT_EQ(recomputed(3).elements, plain(3).elements);
  EXPECT_NE(recomputed(3).elements, plain(4).elements) << "the control";
}

TEST(RecomputedLayers, KeepNothingBesideTheInputAndChargeForwardAgain) {
  EXPECT_EQ(recomputed(3).kept, 0);
  EXPECT_GT(plain(3).kept, 0);
  EXPECT_EQ(recomputed(3).operations - plain(3).operations,
            static_cast<std::int64_t>(2 * 2 * tokens * width * width));
}

}  // namespace
}  // namespace ringside
