// Batch normalisation alone: its formula, its derivatives against differences, and its seam.
#include "models/batch_norm.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/models/layer_gradients.hpp"

namespace ringside {
namespace {

constexpr std::size_t rows = 5;
constexpr std::size_t width = 3;
constexpr double from_differences = 1e-8;  // h^2 and rounding over h, with numbers near 1

// Gain and shift that are neither one nor zero.
BatchNorm<double> layer_of(SingleDevice& d) {
  BatchNorm<double> layer(d.device, "norm.0", width);
  std::uint64_t seed = 50;
  for (const Parameter* p : layer.parameters()) {
    for (double& element : p->value.as<double>()) {
      element = 0.5 + uniform(mix(seed++));
    }
  }
  return layer;
}

TEST(BatchNorm, ComputesItsFormula) {
  SingleDevice d;
  BatchNorm<double> layer(d.device, "norm.0", width);
  const Tensor x = d.tensor<double>({rows, width}, 1);
  Saved saved;
  const auto y = copy_of<double>(layer.forward(x, saved));
  const auto in = x.as<double>();
  for (std::size_t c = 0; c < width; ++c) {
    double mean = 0;
    for (std::size_t r = 0; r < rows; ++r) {
      mean += in[r * width + c] / rows;
    }
    double variance = 0;
    for (std::size_t r = 0; r < rows; ++r) {
      variance += (in[r * width + c] - mean) * (in[r * width + c] - mean) / rows;
    }
    for (std::size_t r = 0; r < rows; ++r) {
      EXPECT_NEAR(y[r * width + c], (in[r * width + c] - mean) / std::sqrt(variance + 1e-5), 1e-13);
    }
  }
}

TEST(BatchNorm, GradientsAreTheDerivatives) {
  SingleDevice d;
  auto layer = layer_of(d);
  const LayerRun run(d, layer, d.tensor<double>({rows, width}, 1), {rows});
  EXPECT_LT(run.worst_input_gradient(), from_differences);
  EXPECT_LT(run.worst_weight_gradient(), from_differences);
}

// What another rank has, as the seam brings it: the sums of its rows.
class OtherRows : public BatchSums {
 public:
  explicit OtherRows(std::vector<std::vector<double>> theirs) : theirs_(std::move(theirs)) {}

  void add_up(std::span<double> sums, std::string_view label) override {
    EXPECT_EQ(label, "norm.0");
    const auto& more = theirs_.at(calls_++);
    ASSERT_EQ(sums.size(), more.size());
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] += more[i];
    }
  }

 private:
  std::vector<std::vector<double>> theirs_;
  std::size_t calls_ = 0;
};

// Keeps what the layer would have sent.
class Kept : public BatchSums {
 public:
  void add_up(std::span<double> sums, std::string_view /*label*/) override {
    seen.emplace_back(sums.begin(), sums.end());
  }

  std::vector<std::vector<double>> seen;
};

Tensor part(SingleDevice& d, const Tensor& whole, std::size_t first, std::size_t count) {
  Tensor made = d.tensor<double>({count, width}, 0);
  const auto from = whole.as<double>().subspan(first * width, count * width);
  std::ranges::copy(from, made.as<double>().begin());
  return made;
}

// Of two parts: the sums of the first part, for the second. Backward's sums need the statistics of
// all, so they are found in the whole: those of all rows without those of the second part.
TEST(BatchNorm, WithTheSumsOfTheOthersAPartIsThatOfTheWhole) {
  SingleDevice d;
  auto layer = layer_of(d);
  const Tensor x = d.tensor<double>({rows, width}, 1);
  const Tensor dy = d.tensor<double>({rows, width}, 100);
  constexpr std::size_t first = 2;

  Kept of_all;
  layer.share_statistics(of_all);
  Saved saved;
  const auto whole_out = copy_of<double>(layer.forward(x, saved));
  const auto whole_grad = copy_of<double>(layer.backward_input(dy, saved));

  Kept of_first;
  layer.share_statistics(of_first);
  Saved other;
  layer.forward(part(d, x, 0, first), other);
  std::vector<double> backward = of_all.seen[1];
  const auto y = [&](std::size_t r, std::size_t c) {  // normalised, of the whole
    return (whole_out[r * width + c] - layer.parameters()[1]->value.as<double>()[c]) /
           layer.parameters()[0]->value.as<double>()[c];
  };
  for (std::size_t r = first; r < rows; ++r) {
    for (std::size_t c = 0; c < width; ++c) {
      backward[c] -= dy.as<double>()[r * width + c];
      backward[width + c] -= dy.as<double>()[r * width + c] * y(r, c);
    }
  }
  OtherRows others({of_first.seen[0], backward});
  layer.share_statistics(others);
  Saved mine;
  const auto out = copy_of<double>(layer.forward(part(d, x, first, rows - first), mine));
  const auto grad = copy_of<double>(layer.backward_input(part(d, dy, first, rows - first), mine));
  for (std::size_t i = 0; i < out.size(); ++i) {
    EXPECT_NEAR(out[i], whole_out[first * width + i], 1e-13);
    EXPECT_NEAR(grad[i], whole_grad[first * width + i], 1e-13);
  }
}

TEST(BatchNorm, OfItsOwnRowsAPartIsAnother) {
  SingleDevice d;
  auto layer = layer_of(d);
  const Tensor x = d.tensor<double>({rows, width}, 1);
  Saved whole;
  Saved mine;
  const auto of_all = copy_of<double>(layer.forward(x, whole));
  const auto of_part = copy_of<double>(layer.forward(part(d, x, 2, 3), mine));
  EXPECT_GT(std::abs(of_part.front() - of_all[2 * width]), 0.01);
}

TEST(BatchNorm, NoRowsAreAnOrdinaryCase) {
  SingleDevice d;
  auto layer = layer_of(d);
  Saved saved;
  EXPECT_EQ(layer.forward(d.tensor<double>({0, width}, 1), saved).count(), 0U);
  EXPECT_EQ(layer.backward_input(d.tensor<double>({0, width}, 1), saved).count(), 0U);
  layer.backward_weight(saved);
  EXPECT_EQ(layer.parameters()[0]->grad.as<double>()[0], 0);
}

}  // namespace
}  // namespace ringside
