// SGD and AdamW against PyTorch's formulas, worked out apart.
#include "models/optimizer.hpp"

#include <gtest/gtest.h>

#include "runtime/errors.hpp"
#include "tests/models/single_device.hpp"

namespace ringside {
namespace {

// One parameter of two elements; the second has gradients of the opposite sign.
template <class T>
class Descent {
 public:
  explicit Descent(const OptimizerConfig& config)
      : parameter_{"p", Tensor(d_.memory, dtype_of<T>(), {2}, Category::weights, "p"),
                   Tensor(d_.memory, dtype_of<T>(), {2}, Category::gradients, "p.grad")},
        optimizer_(make_optimizer(config, d_.memory, {&parameter_})) {
    parameter_.value.template as<T>()[0] = 1;
    parameter_.value.template as<T>()[1] = -1;
  }

  // The first element after a step; checks that the second mirrors it.
  T step(T grad) {
    parameter_.grad.template as<T>()[0] = grad;
    parameter_.grad.template as<T>()[1] = -grad;
    optimizer_->step();
    const auto value = parameter_.value.template as<T>();
    EXPECT_EQ(value[0], -value[1]);
    return value[0];
  }

  std::int64_t state_bytes() const { return d_.held(Category::optimizer_state); }

  Parameter& parameter() { return parameter_; }

  SingleDevice& device() { return d_; }

  const Optimizer& optimizer() const { return *optimizer_; }

 private:
  SingleDevice d_;
  Parameter parameter_;
  std::unique_ptr<Optimizer> optimizer_;
};

TEST(Sgd, WithoutMomentumFollowsTheGradientAndKeepsNoState) {
  Descent<double> descent({.kind = "sgd", .lr = 0.1, .momentum = 0});
  EXPECT_DOUBLE_EQ(descent.step(0.5), 0.95);
  EXPECT_DOUBLE_EQ(descent.step(0.25), 0.925);
  EXPECT_EQ(descent.state_bytes(), 0);
}

TEST(Sgd, MomentumAddsUpGradients) {
  Descent<double> descent({.kind = "sgd", .lr = 0.1, .momentum = 0.9});
  EXPECT_DOUBLE_EQ(descent.step(0.5), 0.95);               // velocity 0.5
  EXPECT_DOUBLE_EQ(descent.step(0.25), 0.95 - 0.07);       // 0.9 * 0.5 + 0.25 = 0.7
  EXPECT_DOUBLE_EQ(descent.step(0), 0.95 - 0.07 - 0.063);  // 0.9 * 0.7 = 0.63
  EXPECT_EQ(descent.state_bytes(), 2 * 8);
}

TEST(AdamW, FirstStepGoesTheLearningRateAgainstTheSign) {
  for (const double grad : {1e-3, 1.0, 1e3}) {
    Descent<double> descent({.kind = "adamw", .lr = 0.1, .weight_decay = 0});
    EXPECT_NEAR(descent.step(grad), 0.9, 1e-6) << grad;
  }
}

TEST(AdamW, FollowsTheTextbook) {
  Descent<double> descent({.kind = "adamw", .lr = 0.1});
  EXPECT_NEAR(descent.step(0.5), 0.899000002, 1e-14);
  EXPECT_NEAR(descent.step(-0.25), 0.8714672987058463, 1e-14);
  EXPECT_NEAR(descent.step(2), 0.8035310672284472, 1e-14);
  EXPECT_EQ(descent.state_bytes(), 2 * 2 * 8);
}

TEST(AdamW, DecayIsDecoupledFromTheGradient) {
  Descent<double> descent({.kind = "adamw", .lr = 0.1, .weight_decay = 0.5});
  EXPECT_DOUBLE_EQ(descent.step(0), 0.95);
}

// 1 - beta is formed in f64, as PyTorch does: formed in f32, the first step gives 0x1.cc49a4p-1.
TEST(AdamW, RoundsItsConstantsOnceF32) {
  Descent<float> descent({.kind = "adamw", .lr = 0.1});
  EXPECT_EQ(descent.step(0.5F), 0x1.cc49bcp-1F);
  EXPECT_EQ(descent.step(-0.25F), 0x1.be30f8p-1F);
  EXPECT_EQ(descent.step(2.0F), 0x1.9b686ep-1F);
  EXPECT_EQ(descent.step(0.125F), 0x1.7d21bap-1F);
}

TEST(Optimizer, ReadsAGradientThatWasMoved) {
  for (const std::string kind : {"sgd", "adamw"}) {
    Descent<float> descent({.kind = kind, .lr = 0.1, .weight_decay = 0});
    descent.parameter().grad =
        Tensor(descent.device().memory, DType::f32, {4}, Category::gradients, "bucket")
            .view(1, {2}, "p.grad");
    EXPECT_NEAR(descent.step(1), 0.9, 1e-6) << kind;
  }
}

TEST(AdamW, DoesNotDecayGainsUnlessAsked) {
  for (const bool decay_gains : {false, true}) {
    Descent<double> descent(
        {.kind = "adamw", .lr = 0.1, .weight_decay = 0.5, .decay_gains = decay_gains});
    descent.parameter().gain = true;
    EXPECT_DOUBLE_EQ(descent.step(0), decay_gains ? 0.95 : 1);
  }
}

TEST(Optimizer, CountsItsSteps) {
  for (const std::string kind : {"sgd", "adamw"}) {
    Descent<double> descent({.kind = kind});
    EXPECT_EQ(descent.optimizer().steps(), 0);
    descent.step(1);
    descent.step(1);
    EXPECT_EQ(descent.optimizer().steps(), 2);
  }
}

TEST(Optimizer, RefusesAKindThatIsNone) {
  SingleDevice d;
  EXPECT_THROW(make_optimizer({.kind = "adam"}, d.memory, {}), BadUse);
}

}  // namespace
}  // namespace ringside
