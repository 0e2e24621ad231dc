// Layers alone: derivatives against differences, ledger, charges, and where bits may not differ.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "models/cross_entropy.hpp"
#include "models/initialise.hpp"
#include "models/linear.hpp"
#include "models/token_embedding.hpp"
#include "runtime/errors.hpp"
#include "tests/models/single_device.hpp"

namespace ringside {
namespace {

constexpr double from_differences = 1e-8;  // h^2 and rounding over h, with numbers near 1

class LinearLayer : public testing::TestWithParam<Activation> {
 protected:
  // [tokens, in] -> [tokens, out]; the loss is the output's product with fixed numbers.
  static constexpr std::size_t tokens = 3;
  static constexpr std::size_t in = 5;
  static constexpr std::size_t out = 4;

  double loss() {
    Saved saved;
    return dot(layer.forward(x, saved), grad_out);
  }

  SingleDevice d;
  Linear<double> layer{d.device, "hidden.1", in, out, GetParam(), 7};
  Tensor x = d.tensor<double>({tokens, in}, 1);
  Tensor grad_out = d.tensor<double>({tokens, out}, 100);
};

TEST_P(LinearLayer, ComputesItsFormula) {
  Saved saved;
  const Tensor y = layer.forward(x, saved);
  const auto weight = layer.parameters()[0]->value.as<double>();
  const auto bias = layer.parameters()[1]->value.as<double>();
  ASSERT_EQ(y.shape(), (std::vector<std::size_t>{tokens, out}));
  for (std::size_t t = 0; t < tokens; ++t) {
    for (std::size_t o = 0; o < out; ++o) {
      double sum = bias[o];
      for (std::size_t i = 0; i < in; ++i) {
        sum += x.as<double>()[t * in + i] * weight[i * out + o];
      }
      EXPECT_NEAR(y.as<double>()[t * out + o],
                  GetParam() == Activation::tanh ? std::tanh(sum) : sum, 1e-15);
    }
  }
}

TEST_P(LinearLayer, InputGradientIsTheDerivative) {
  Saved saved;
  layer.forward(x, saved);
  const auto grad_in = copy_of<double>(layer.backward_input(grad_out, saved));
  ASSERT_EQ(grad_in.size(), x.count());
  for (std::size_t i = 0; i < x.count(); ++i) {
    EXPECT_NEAR(grad_in[i], derivative(x.as<double>()[i], [&] { return loss(); }),
                from_differences);
  }
}

TEST_P(LinearLayer, WeightGradientIsTheDerivativeAndIsAdded) {
  Saved saved;
  layer.forward(x, saved);
  layer.backward_input(grad_out, saved);
  for (const Parameter* p : layer.parameters()) {
    std::fill(p->grad.as<double>().begin(), p->grad.as<double>().end(), 10);
  }
  layer.backward_weight(saved);
  for (const Parameter* p : layer.parameters()) {
    for (std::size_t i = 0; i < p->value.count(); ++i) {
      EXPECT_NEAR(p->grad.as<double>()[i],
                  10 + derivative(p->value.as<double>()[i], [&] { return loss(); }),
                  from_differences)
          << p->name << " " << i;
    }
  }
}

TEST_P(LinearLayer, MicroBatchesUnderWayAtOnceDoNotMix) {
  const Tensor other = d.tensor<double>({tokens + 1, in}, 55);
  const Tensor other_out = d.tensor<double>({tokens + 1, out}, 66);
  const auto backward = [&](const Tensor& grad, Saved& saved) {
    std::fill(layer.parameters()[0]->grad.as<double>().begin(),
              layer.parameters()[0]->grad.as<double>().end(), 0);
    layer.backward_input(grad, saved);
    layer.backward_weight(saved);
    return copy_of<double>(layer.parameters()[0]->grad);
  };
  Saved alone;
  layer.forward(x, alone);
  const auto truth = backward(grad_out, alone);
  Saved first;
  Saved second;
  layer.forward(x, first);
  layer.forward(other, second);
  EXPECT_NE(backward(other_out, second), truth);
  EXPECT_EQ(backward(grad_out, first), truth);
}

TEST_P(LinearLayer, ChargesTwoOperationsAProductAndFreesWhatItSaved) {
  const auto before = d.held(Category::activations);
  {
    Saved saved;
    layer.forward(x, saved);
    EXPECT_EQ(saved.tensors.size(), GetParam() == Activation::tanh ? 2 : 1);
    layer.backward_input(grad_out, saved);
    layer.backward_weight(saved);
    EXPECT_TRUE(saved.tensors.empty());
    EXPECT_EQ(d.held(Category::activations), before);
  }
  const std::int64_t product = 2 * tokens * in * out;
  const std::vector<std::pair<std::string, std::int64_t>> expected{
      {"hidden.1 forward", product},
      {"hidden.1 input gradient", product},
      {"hidden.1 weight gradient", product}};
  EXPECT_EQ(d.charges, expected);
}

INSTANTIATE_TEST_SUITE_P(Activations, LinearLayer,
                         testing::Values(Activation::identity, Activation::tanh),
                         [](const auto& which) {
                           return which.param == Activation::tanh ? "Tanh" : "Identity";
                         });

// A bucket puts gradients at addresses that no allocation has. Fails with Eigen's column sums.
template <class T>
void expect_same_bits_at_any_address() {
  for (std::size_t tokens : {1U, 2U, 7U, 33U}) {
    for (std::size_t out = 1; out < 20; ++out) {
      SingleDevice d;
      const std::size_t in = 6;
      Linear<T> layer(d.device, "l", in, out, Activation::identity, 3);
      const Tensor x = d.tensor<T>({tokens, in}, 1);
      const Tensor grad_out = d.tensor<T>({tokens, out}, 2);
      const auto run = [&] {
        Saved saved;
        layer.forward(x, saved);
        layer.backward_input(grad_out, saved);
        layer.backward_weight(saved);
        return std::pair(copy_of<T>(layer.parameters()[0]->grad),
                         copy_of<T>(layer.parameters()[1]->grad));
      };
      const auto truth = run();
      const Tensor bucket(d.memory, dtype_of<T>(), {1 + in * out + out}, Category::gradients, "b");
      layer.parameters()[0]->grad = bucket.view(1, {in, out}, "w");
      layer.parameters()[1]->grad = bucket.view(1 + in * out, {out}, "b");
      EXPECT_EQ(run(), truth) << tokens << " tokens, " << out << " columns";
      EXPECT_EQ(bucket.as<T>()[0], 0);
    }
  }
}

TEST(LinearInABucket, HasTheSameGradientBitsF32) {
  expect_same_bits_at_any_address<float>();
}

TEST(LinearInABucket, HasTheSameGradientBitsF64) {
  expect_same_bits_at_any_address<double>();
}

TEST(TokenEmbeddingLayer, LooksUpSideBySide) {
  SingleDevice d;
  TokenEmbedding<float> layer(
      d.device, "embedding", make_parameter<float>(d.device, "embedding.weight", {256, 3}, 1.0, 1));
  Tensor contexts(d.memory, DType::i32, {2, 2}, Category::activations, "contexts");
  const std::vector<std::int32_t> bytes{0, 255, 7, 7};
  std::copy(bytes.begin(), bytes.end(), contexts.as<std::int32_t>().begin());
  Saved saved;
  const Tensor y = layer.forward(contexts, saved);
  ASSERT_EQ(y.shape(), (std::vector<std::size_t>{2, 6}));
  const auto table = layer.parameters()[0]->value.as<float>();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (std::size_t e = 0; e < 3; ++e) {
      EXPECT_EQ(y.as<float>()[i * 3 + e], table[static_cast<std::size_t>(bytes[i]) * 3 + e]);
    }
  }
  EXPECT_TRUE(d.charges.empty());
}

TEST(TokenEmbeddingLayer, AddsEachOccurrenceToItsRow) {
  SingleDevice d;
  TokenEmbedding<double> layer(
      d.device, "embedding",
      make_parameter<double>(d.device, "embedding.weight", {256, 1}, 1.0, 1));
  Tensor contexts(d.memory, DType::i32, {2, 2}, Category::activations, "contexts");
  const std::vector<std::int32_t> bytes{9, 7, 7, 0};
  std::copy(bytes.begin(), bytes.end(), contexts.as<std::int32_t>().begin());
  Tensor grad_out(d.memory, DType::f64, {2, 2}, Category::activations, "grad");
  for (std::size_t i = 0; i < 4; ++i) {
    grad_out.as<double>()[i] = std::pow(10.0, static_cast<double>(i));
  }
  Saved saved;
  layer.forward(contexts, saved);
  EXPECT_FALSE(layer.backward_input(grad_out, saved));
  layer.backward_weight(saved);
  EXPECT_TRUE(saved.tensors.empty());
  const auto grad = layer.parameters()[0]->grad.as<double>();
  EXPECT_EQ(grad[9], 1);
  EXPECT_EQ(grad[7], 110);
  EXPECT_EQ(grad[0], 1000);
  EXPECT_EQ(std::accumulate(grad.begin(), grad.end(), 0.0), 1111);
}

TEST(TokenEmbeddingLayer, RefusesTokensOutsideTheVocabulary) {
  SingleDevice d;
  TokenEmbedding<float> layer(d.device, "embedding",
                              make_parameter<float>(d.device, "embedding.weight", {5, 3}, 1.0, 1));
  for (const std::int32_t token : {-1, 5}) {
    const Tensor contexts(d.memory, DType::i32, {1, 1}, Category::activations, "contexts");
    contexts.as<std::int32_t>()[0] = token;
    Saved saved;
    EXPECT_THROW(layer.forward(contexts, saved), BadUse);
  }
}

TEST(CrossEntropy, OfEqualLogitsIsTheLogarithmOfTheVocabularyForEachToken) {
  SingleDevice d;
  const Tensor logits(d.memory, DType::f64, {3, 256}, Category::activations, "logits");
  const auto [loss, grad] =
      cross_entropy<double>(d.device, logits, std::vector<std::int32_t>{0, 9, 255});
  EXPECT_NEAR(loss, 3 * std::log(256.0), 1e-14);
  EXPECT_NEAR(grad.as<double>()[9], 1.0 / 256, 1e-17);
  EXPECT_NEAR(grad.as<double>()[256 + 9], 1.0 / 256 - 1, 1e-15);
}

TEST(CrossEntropy, GradientIsTheDerivativeOfTheSum) {
  SingleDevice d;
  Tensor logits = d.tensor<double>({3, 5}, 4);
  const std::vector<std::int32_t> targets{0, 4, 2};
  const auto grad = copy_of<double>(cross_entropy<double>(d.device, logits, targets).grad);
  for (std::size_t i = 0; i < logits.count(); ++i) {
    const double slope = derivative(logits.as<double>()[i], [&] {
      return cross_entropy<double>(d.device, logits, targets).loss;
    });
    EXPECT_NEAR(grad[i], slope, from_differences);
  }
}

TEST(CrossEntropy, StandsLogitsFarApart) {
  SingleDevice d;
  Tensor logits(d.memory, DType::f32, {1, 3}, Category::activations, "logits");
  logits.as<float>()[0] = 3e4F;
  logits.as<float>()[1] = -3e4F;
  const auto [loss, grad] = cross_entropy<float>(d.device, logits, std::vector<std::int32_t>{1});
  EXPECT_EQ(loss, 6e4);
  EXPECT_EQ(copy_of<float>(grad), (std::vector<float>{1, -1, 0}));
}

TEST(CrossEntropy, ShowsWhatIsNotANumber) {
  SingleDevice d;
  for (std::size_t at = 0; at < 3; ++at) {
    Tensor logits(d.memory, DType::f32, {1, 3}, Category::activations, "logits");
    logits.as<float>()[at] = std::nanf("");
    EXPECT_TRUE(
        std::isnan(cross_entropy<float>(d.device, logits, std::vector<std::int32_t>{1}).loss));
  }
}

// Claimed of losses and embeddings only: a product's last rows are computed another way.
TEST(CrossEntropy, OfARowAloneHasTheBitsOfTheRowInABatch) {
  SingleDevice d;
  const Tensor logits = d.tensor<float>({7, 256}, 4);
  const std::vector<std::int32_t> targets{3, 1, 4, 1, 5, 9, 2};
  const auto all = copy_of<float>(cross_entropy<float>(d.device, logits, targets).grad);
  for (std::size_t row = 0; row < 7; ++row) {
    const Tensor alone = logits.view(row * 256, {1, 256}, "row");
    const auto grad = cross_entropy<float>(d.device, alone, std::vector{targets[row]}).grad;
    EXPECT_TRUE(std::equal(grad.as<float>().begin(), grad.as<float>().end(),
                           all.begin() + static_cast<std::ptrdiff_t>(row * 256)));
  }
}

TEST(CrossEntropy, RefusesTargetsThatDoNotFit) {
  SingleDevice d;
  const Tensor logits = d.tensor<float>({2, 5}, 4);
  EXPECT_THROW(cross_entropy<float>(d.device, logits, std::vector<std::int32_t>{1}), BadUse);
  EXPECT_THROW(cross_entropy<float>(d.device, logits, std::vector<std::int32_t>{1, 5}), BadUse);
  EXPECT_THROW(cross_entropy<float>(d.device, logits, std::vector<std::int32_t>{1, -1}), BadUse);
}

}  // namespace
}  // namespace ringside
