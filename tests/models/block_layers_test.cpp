// The layers that a block is made of: each against loops that say what it is, and its gradients
// against differences.
#include <gtest/gtest.h>

#include <cmath>

#include "models/attention.hpp"
#include "models/block.hpp"
#include "models/initialise.hpp"
#include "models/rms_norm.hpp"
#include "models/rotary.hpp"
#include "models/swiglu.hpp"
#include "models/vocabulary_head.hpp"
#include "models/whole_attention.hpp"
#include "tests/models/layer_gradients.hpp"

namespace ringside {
namespace {

constexpr double from_differences = 1e-8;  // relative to the largest of a tensor
const std::vector<std::size_t> lengths{3, 1, 4};
constexpr std::size_t rows = 8;
constexpr std::size_t hidden = 6;

Parameter weight(SingleDevice& d, const std::string& name, std::vector<std::size_t> shape) {
  return make_parameter<double>(d.device, name + ".weight", std::move(shape), 1.0, 5);
}

RmsNorm<double> norm(SingleDevice& d, const std::string& name) {
  return {d.device, name, weight(d, name, {hidden}), 1e-6};
}

constexpr Heads heads{.queries = 4, .kv = 2, .dim = 2};

Attention<double> attention(SingleDevice& d, Recompute recompute = Recompute::none) {
  return {d.device,
          "a",
          {.heads = heads},
          {.q = weight(d, "a.q", {hidden, 8}),
           .k = weight(d, "a.k", {hidden, 4}),
           .v = weight(d, "a.v", {hidden, 4}),
           .o = weight(d, "a.o", {8, hidden})},
          std::make_shared<Seam>(),
          std::make_shared<WholeAttention<double>>(d.device, recompute)};
}

SwiGlu<double> swiglu(SingleDevice& d) {
  return {d.device,
          "m",
          {.gate = weight(d, "m.gate", {hidden, 5}),
           .up = weight(d, "m.up", {hidden, 5}),
           .down = weight(d, "m.down", {5, hidden})},
          std::make_shared<Seam>()};
}

using Values = std::vector<double>;

// [rows, in] x [in, out]
Values product(const Values& a, const Values& b, std::size_t in) {
  const std::size_t out = b.size() / in;
  Values c(a.size() / in * out);
  for (std::size_t i = 0; i < c.size(); ++i) {
    for (std::size_t k = 0; k < in; ++k) {
      c[i] += a[i / out * in + k] * b[k * out + i % out];
    }
  }
  return c;
}

Values value_of(Layer& layer, std::size_t parameter) {
  return copy_of<double>(layer.parameters()[parameter]->value);
}

void expect_near(const Values& seen, const Values& expected) {
  ASSERT_EQ(seen.size(), expected.size());
  for (std::size_t i = 0; i < seen.size(); ++i) {
    EXPECT_NEAR(seen[i], expected[i], 1e-13) << i;
  }
}

// ---- RMSNorm ------------------------------------------------------------------------------------

TEST(RmsNormLayer, DividesByTheRootMeanSquare) {
  SingleDevice d;
  auto layer = norm(d, "n");
  const Tensor x = d.tensor<double>({rows, hidden}, 1);
  const auto in = copy_of<double>(x);
  Values expected;
  for (std::size_t i = 0; i < in.size(); ++i) {
    double squares = 0;
    for (std::size_t k = 0; k < hidden; ++k) {
      squares += std::pow(in[i / hidden * hidden + k], 2);
    }
    expected.push_back(in[i] / std::sqrt(squares / hidden + 1e-6) * value_of(layer, 0)[i % hidden]);
  }
  expect_near(copy_of<double>(LayerRun(d, layer, x, lengths).forward()), expected);
}

TEST(RmsNormLayer, OfZerosIsZeroWithAFiniteGradient) {
  SingleDevice d;
  auto layer = norm(d, "n");
  const Tensor x(d.memory, DType::f64, {1, hidden}, Category::activations, "x");
  Saved saved;
  EXPECT_EQ(copy_of<double>(layer.forward(x, saved)), Values(hidden, 0));
  for (const double g : copy_of<double>(layer.backward_input(d.tensor<double>({1, 6}, 2), saved))) {
    EXPECT_TRUE(std::isfinite(g));
  }
}

TEST(RmsNormLayer, GradientsAreTheDerivatives) {
  SingleDevice d;
  auto layer = norm(d, "n");
  const LayerRun run(d, layer, d.tensor<double>({rows, hidden}, 1), lengths);
  EXPECT_LT(run.worst_input_gradient(), from_differences);
  EXPECT_LT(run.worst_weight_gradient(), from_differences);
}

// ---- Rotary positions ---------------------------------------------------------------------------

Values turned(const Values& x, const std::vector<std::int32_t>& positions, std::size_t dim,
              double base) {
  const std::size_t width = x.size() / positions.size();
  Values out(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t in_head = i % width % dim;
    const std::size_t pair = in_head % (dim / 2);
    const double angle = positions[i / width] * std::pow(base, -2.0 * static_cast<double>(pair) /
                                                                   static_cast<double>(dim));
    out[i] = in_head < dim / 2 ? x[i] * std::cos(angle) - x[i + dim / 2] * std::sin(angle)
                               : x[i] * std::cos(angle) + x[i - dim / 2] * std::sin(angle);
  }
  return out;
}

TEST(Rotary, TurnsEachPairByItsAngleAndBack) {
  SingleDevice d;
  const std::vector<std::int32_t> positions{0, 1, 2, 0, 77, 4095};
  const Tensor x = d.tensor<double>({6, 16}, 3);  // two heads of 8
  const auto before = copy_of<double>(x);
  rotate<double>(x, 8, positions, 10'000, Turn::forward);
  const auto expected = turned(before, positions, 8, 10'000);
  const auto seen = copy_of<double>(x);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    EXPECT_NEAR(seen[i], expected[i], 1e-12) << i;  // an angle of 4095 has 12 bits less
  }
  EXPECT_TRUE(std::equal(before.begin(), before.begin() + 16, seen.begin()));  // position 0
  rotate<double>(x, 8, positions, 10'000, Turn::back);
  expect_near(copy_of<double>(x), before);
}

// What it is for: products depend on the distance only.
TEST(Rotary, ProductsDependOnTheDistance) {
  SingleDevice d;
  const auto product_at = [&](std::int32_t query, std::int32_t key) {
    const Tensor q = d.tensor<double>({1, 8}, 3);
    const Tensor k = d.tensor<double>({1, 8}, 40);
    rotate<double>(q, 8, std::vector{query}, 10'000, Turn::forward);
    rotate<double>(k, 8, std::vector{key}, 10'000, Turn::forward);
    return dot(q, k);
  };
  EXPECT_NEAR(product_at(5, 2), product_at(13, 10), 1e-13);
  EXPECT_GT(std::abs(product_at(5, 2) - product_at(5, 3)), 1e-3);
}

// ---- Attention ----------------------------------------------------------------------------------

// One number at a time, from the definition.
Values attention_by_loops(Layer& layer, const Values& x) {
  const auto sequences = make_sequences(lengths);
  const auto q = turned(product(x, value_of(layer, 0), hidden), sequences->positions, 2, 10'000);
  const auto k = turned(product(x, value_of(layer, 1), hidden), sequences->positions, 2, 10'000);
  const auto v = product(x, value_of(layer, 2), hidden);
  Values mixed(rows * 8);
  std::size_t first = 0;
  for (const std::size_t length : lengths) {
    for (std::size_t t = first; t < first + length; ++t) {
      for (std::size_t h = 0; h < 4; ++h) {
        const std::size_t g = h / 2;
        double total = 0;
        for (std::size_t s = first; s <= t; ++s) {
          double score = 0;
          for (std::size_t i = 0; i < 2; ++i) {
            score += q[t * 8 + h * 2 + i] * k[s * 4 + g * 2 + i];
          }
          const double e = std::exp(score / std::sqrt(2.0));
          total += e;
          for (std::size_t i = 0; i < 2; ++i) {
            mixed[t * 8 + h * 2 + i] += e * v[s * 4 + g * 2 + i];
          }
        }
        for (std::size_t i = 0; i < 2; ++i) {
          mixed[t * 8 + h * 2 + i] /= total;
        }
      }
    }
    first += length;
  }
  return product(mixed, value_of(layer, 3), 8);
}

TEST(AttentionLayer, ComputesItsDefinition) {
  SingleDevice d;
  auto layer = attention(d);
  const Tensor x = d.tensor<double>({rows, hidden}, 1);
  expect_near(copy_of<double>(LayerRun(d, layer, x, lengths).forward()),
              attention_by_loops(layer, copy_of<double>(x)));
}

TEST(AttentionLayer, GradientsAreTheDerivatives) {
  for (const Recompute recompute : {Recompute::none, Recompute::selective}) {
    SingleDevice d;
    auto layer = attention(d, recompute);
    const LayerRun run(d, layer, d.tensor<double>({rows, hidden}, 1), lengths);
    EXPECT_LT(run.worst_input_gradient(), from_differences);
    EXPECT_LT(run.worst_weight_gradient(), from_differences);
  }
}

TEST(AttentionLayer, ChargesThePairsThatCount) {
  SingleDevice d;
  auto layer = attention(d);
  Saved saved{.sequences = make_sequences(lengths)};
  const Tensor y = layer.forward(d.tensor<double>({rows, hidden}, 1), saved);
  layer.backward_input(y, saved);
  layer.backward_weight(saved);
  const std::int64_t wide = 2 * rows * hidden * 8;  // q and o
  const std::int64_t narrow = 2 * rows * hidden * 4;
  const std::int64_t core = 2 * (6 + 1 + 10) * 4 * 2;  // pairs, heads, dim
  const std::vector<std::pair<std::string, std::int64_t>> expected{
      {"a.q forward", wide},          {"a.k forward", narrow},
      {"a.v forward", narrow},        {"a.scores forward", core},
      {"a.values forward", core},     {"a.o forward", wide},
      {"a.o input gradient", wide},   {"a.core input gradient", 4 * core},
      {"a.q input gradient", wide},   {"a.k input gradient", narrow},
      {"a.v input gradient", narrow}, {"a.o weight gradient", wide},
      {"a.q weight gradient", wide},  {"a.k weight gradient", narrow},
      {"a.v weight gradient", narrow}};
  EXPECT_EQ(d.charges, expected);
}

// ---- SwiGLU -------------------------------------------------------------------------------------

TEST(SwiGluLayer, ComputesItsFormula) {
  SingleDevice d;
  auto layer = swiglu(d);
  const Tensor x = d.tensor<double>({rows, hidden}, 1);
  const auto gate = product(copy_of<double>(x), value_of(layer, 0), hidden);
  auto up = product(copy_of<double>(x), value_of(layer, 1), hidden);
  for (std::size_t i = 0; i < up.size(); ++i) {
    up[i] *= gate[i] / (1 + std::exp(-gate[i]));
  }
  expect_near(copy_of<double>(LayerRun(d, layer, x, lengths).forward()),
              product(up, value_of(layer, 2), 5));
}

TEST(SwiGluLayer, GradientsAreTheDerivatives) {
  SingleDevice d;
  auto layer = swiglu(d);
  const LayerRun run(d, layer, d.tensor<double>({rows, hidden}, 1), lengths);
  EXPECT_LT(run.worst_input_gradient(), from_differences);
  EXPECT_LT(run.worst_weight_gradient(), from_differences);
}

// ---- Head ---------------------------------------------------------------------------------------

TEST(VocabularyHeadLayer, MultipliesByTheTransposedTable) {
  SingleDevice d;
  VocabularyHead<double> layer(d.device, "head", weight(d, "head", {7, hidden}),
                               std::make_shared<Seam>());
  const Tensor x = d.tensor<double>({rows, hidden}, 1);
  const LayerRun run(d, layer, x, lengths);
  const auto seen = copy_of<double>(run.forward());
  const auto table = value_of(layer, 0);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < hidden; ++k) {
      sum += x.as<double>()[i / 7 * hidden + k] * table[i % 7 * hidden + k];
    }
    EXPECT_NEAR(seen[i], sum, 1e-14);
  }
  EXPECT_LT(run.worst_input_gradient(), from_differences);
  EXPECT_LT(run.worst_weight_gradient(), from_differences);
}

// ---- Block --------------------------------------------------------------------------------------

Block<double> block_of(SingleDevice& d, Recompute recompute = Recompute::none) {
  return {d.device,           "b",
          norm(d, "b.norm1"), attention(d, recompute),
          norm(d, "b.norm2"), std::make_unique<SwiGlu<double>>(swiglu(d)),
          recompute};
}

Values plus(Values a, const Values& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] += b[i];
  }
  return a;
}

TEST(BlockLayer, AddsAttentionAndThenTheMlp) {
  SingleDevice d;
  auto block = block_of(d);
  auto norm1 = norm(d, "b.norm1");
  auto norm2 = norm(d, "b.norm2");
  auto att = attention(d);
  auto mlp = swiglu(d);
  const auto through = [&](Layer& layer, const Tensor& x) {
    return LayerRun(d, layer, x, lengths).forward();
  };
  const Tensor x = d.tensor<double>({rows, hidden}, 1);
  const Tensor y = d.tensor<double>({rows, hidden}, 0);
  std::ranges::copy(plus(copy_of<double>(x), copy_of<double>(through(att, through(norm1, x)))),
                    y.as<double>().begin());
  expect_near(copy_of<double>(through(block, x)),
              plus(copy_of<double>(y), copy_of<double>(through(mlp, through(norm2, y)))));
}

TEST(BlockLayer, GradientsAreTheDerivatives) {
  for (const Recompute recompute : {Recompute::none, Recompute::full}) {
    SingleDevice d;
    auto layer = block_of(d, recompute);
    const LayerRun run(d, layer, d.tensor<double>({rows, hidden}, 1), lengths);
    EXPECT_LT(run.worst_input_gradient(), from_differences);
    EXPECT_LT(run.worst_weight_gradient(), from_differences);
  }
}

// Wrong by a millionth in one element of each gradient.
class SlightlyWrongNorm : public RmsNorm<double> {
 public:
  using RmsNorm<double>::RmsNorm;

  Tensor backward_input(const Tensor& grad_out, Saved& saved) override {
    Tensor grad = RmsNorm<double>::backward_input(grad_out, saved);
    grad.as<double>()[3] += 1e-6;
    return grad;
  }

  void backward_weight(Saved& saved) override {
    RmsNorm<double>::backward_weight(saved);
    parameters().front()->grad.as<double>()[2] *= 1 + 1e-6;
  }
};

TEST(LayerGradients, AreCaughtWhenWrongInOneElement) {
  SingleDevice d;
  SlightlyWrongNorm layer(d.device, "n", weight(d, "n", {hidden}), 1e-6);
  const LayerRun run(d, layer, d.tensor<double>({rows, hidden}, 1), lengths);
  EXPECT_GT(run.worst_input_gradient(), 10 * from_differences);
  EXPECT_GT(run.worst_weight_gradient(), 10 * from_differences);
}

}  // namespace
}  // namespace ringside
