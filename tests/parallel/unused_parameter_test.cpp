// Case F5: a parameter that only the first micro-batch of a step uses.
#include <gtest/gtest.h>

#include "models/initialise.hpp"
#include "models/linear.hpp"
#include "models/token_embedding.hpp"
#include "tests/parallel/small_training.hpp"

namespace ringside {
namespace {

constexpr std::size_t width = 4;

// y = x + c(x) where a micro-batch has two tokens or more; a single one passes by, and c is not
// called at all.
class OfTwoOrMore : public Layer {
 public:
  explicit OfTwoOrMore(Device device)
      : device_(device), c_(device, "c", width, width, Activation::tanh, 1) {}

  const std::string& name() const override { return c_.name(); }

  Tensor forward(const Tensor& in, Saved& saved) override {
    return used(in) ? sum(in, c_.forward(in, saved)) : in;
  }

  Tensor backward_input(const Tensor& grad_out, Saved& saved) override {
    return used(grad_out) ? sum(grad_out, c_.backward_input(grad_out, saved)) : grad_out;
  }

  void backward_weight(Saved& saved) override {
    if (!saved.tensors.empty()) {
      c_.backward_weight(saved);
    }
  }

  std::vector<Parameter*> parameters() override { return c_.parameters(); }

 private:
  static bool used(const Tensor& rows) { return rows.shape().front() > 1; }

  Tensor sum(const Tensor& a, const Tensor& b) const {
    const Tensor both(device_.memory, DType::f64, a.shape(), Category::activations, "sum");
    std::ranges::transform(a.as<double>(), b.as<double>(), both.as<double>().begin(), std::plus());
    return both;
  }

  Device device_;
  Linear<double> c_;
};

// Layers: embedding, c, head.
std::unique_ptr<Model> model_with_c(Device device) {
  std::vector<std::unique_ptr<Layer>> layers;
  layers.push_back(std::make_unique<TokenEmbedding<double>>(
      device, "embedding",
      make_parameter<double>(device, "embedding.weight", {256, width}, 1.0, 1)));
  layers.push_back(std::make_unique<OfTwoOrMore>(device));
  layers.push_back(
      std::make_unique<Linear<double>>(device, "head", width, 256, Activation::identity, 1));
  return std::make_unique<Model>(device, 1, std::move(layers),
                                 [device](const Tensor& logits, std::span<const std::int32_t> to) {
                                   return cross_entropy<double>(device, logits, to);
                                 });
}

// Two tokens in the first micro-batch of a rank, one in the second.
Batch microbatch_of(int rank, int index) {
  const auto first = 10 * rank + 3 * index;
  return index == 0
             ? Batch{.context = 1,
                     .contexts = {first, first + 1},
                     .targets = {first + 1, first + 2},
                     .lengths = {2}}
             : Batch{.context = 1, .contexts = {first}, .targets = {first + 1}, .lengths = {1}};
}

TrainingPlan one_step() {
  TrainingPlan plan = small_plan(1, DType::f64);
  plan.steps = 1;
  return plan;
}

constexpr std::size_t c_weight = 256 * width;  // where it begins in all gradients

std::vector<double> joined(const std::vector<std::vector<double>>& tensors) {
  std::vector<double> all;
  for (const auto& tensor : tensors) {
    all.insert(all.end(), tensor.begin(), tensor.end());
  }
  return all;
}

// The four micro-batches in one process; `first` is the first that is computed.
std::vector<double> gradients_alone(int first) {
  DeviceMemory memory(1 << 20);
  ComputeClock clock;
  const auto model = model_with_c({memory, clock});
  const auto parameters = flatten(model->layers());
  const auto optimizer = make_optimizer({}, memory, parameters);
  std::vector<double> gradients;
  train(
      one_step(), parameters, *optimizer,
      [&](int) {
        StepSum sum;
        for (int index = first; index < 2; ++index) {
          for (const int rank : {0, 1}) {
            const Batch batch = microbatch_of(rank, index);
            sum.loss += model->forward_backward(batch);
            sum.tokens += batch.tokens();
          }
        }
        return sum;
      },
      [&](int, const StepRecord& record) { gradients = joined(record.gradients); });
  return gradients;
}

// What a reduction would do that takes a parameter without a gradient in the last micro-batch for
// one that has none at all.
struct ForgetsC : LayerHooks {
  explicit ForgetsC(Model& of) : model(of) {}

  void before_forward(std::size_t layer) override {
    if (layer == 0 && ++microbatches == 2) {
      zero_gradients(model.layers()[1]);
    }
  }

  Model& model;
  int microbatches = 0;
};

std::vector<double> gradients_of_two(bool sync_every_microbatch, bool forgotten) {
  const auto seen = run_ranks_tested(2, small_job(), [=](Rank& rank) {
    const auto model = model_with_c({rank.memory(), rank.clock()});
    const auto parameters = flatten(model->layers());
    DataParallel dp(
        rank.world(), rank.memory(), model->layers(),
        {.buckets = {.limit = Bytes{64}}, .sync_every_microbatch = sync_every_microbatch});
    const auto optimizer = make_optimizer({}, rank.memory(), parameters);
    DataParallelStep step(
        rank.world(), dp, *model, [&](int, int index) { return microbatch_of(rank.id(), index); },
        2);
    ForgetsC forgets(*model);
    if (forgotten) {
      step.watch(forgets);
    }
    std::vector<double> gradients;
    train(one_step(), parameters, *optimizer, std::ref(step),
          [&](int, const StepRecord& record) { gradients = joined(record.gradients); });
    return gradients;
  });
  EXPECT_EQ(seen[0], seen[1]);
  return seen[0];
}

double off(const std::vector<double>& truth, const std::vector<double>& seen) {
  return deviation({truth}, {seen}, DType::f64).absolute;
}

TEST(CaseF5, AParameterThatOnlyTheFirstMicrobatchUsesIsReducedInTheSyncStep) {
  const auto truth = gradients_alone(0);
  const auto last_alone = gradients_alone(1);
  for (std::size_t i = c_weight; i < c_weight + width * (width + 1); ++i) {
    EXPECT_NE(truth[i], 0) << "the first micro-batch uses c";
    EXPECT_EQ(last_alone[i], 0) << "the second does not";
  }
  EXPECT_LT(off(truth, gradients_of_two(false, false)), 1e-12);
  EXPECT_LT(off(truth, gradients_of_two(true, false)), 1e-12);
}

TEST(CaseF5Control, OneThatIsTakenForUnusedIsSeen) {
  EXPECT_GT(off(gradients_alone(0), gradients_of_two(false, true)), 1e-4);
}

}  // namespace
}  // namespace ringside
