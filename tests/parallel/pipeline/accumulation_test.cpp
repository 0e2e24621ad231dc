// Cases I4 and I6: two passes of a pipeline before the optimizer's step.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "models/gradient_norm.hpp"
#include "models/model_config.hpp"
#include "models/tensor_elements.hpp"
#include "models/text.hpp"
#include "models/training.hpp"
#include "parallel/data_parallel.hpp"
#include "parallel/pipeline/executor.hpp"
#include "parallel/pipeline/generators.hpp"
#include "parallel/pipeline/stage_split.hpp"
#include "parallel/pipeline/validate.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {
namespace {

constexpr int stages = 2;
constexpr int of_a_pass = 4;  // micro-batches

const GptConfig config{
    .layers = 2, .hidden = 8, .heads = 2, .kv_heads = 1, .ffn = 6, .dtype = DType::f64};

// 1f1b twice, the second pass after the first.
Schedule two_passes() {
  const Schedule once = make_schedule("1f1b", {.stages = stages, .microbatches = of_a_pass});
  Schedule twice = once;
  twice.microbatches = 2 * of_a_pass;
  for (std::size_t d = 0; d < once.devices.size(); ++d) {
    for (Action action : once.devices[d]) {
      action.microbatch += of_a_pass;
      twice.devices[d].push_back(action);
    }
  }
  require_valid(twice);
  return twice;
}

// Divides what has been added so far whenever a pass is complete, as in the fault of the case.
class DividedAfterEachPass : public GradientReduction {
 public:
  DividedAfterEachPass(GradientReduction& inner, Model& model, bool divides)
      : inner_(inner), model_(model), divides_(divides) {}

  void begin_step() override { inner_.begin_step(); }

  LayerHooks& begin_microbatch(int microbatch, int microbatches) override {
    if (divides_ && microbatch == of_a_pass) {
      divide();
      divides_ = false;  // asked for the forward, and again for the backward
    }
    return inner_.begin_microbatch(microbatch, microbatches);
  }

  void end_microbatch() override { inner_.end_microbatch(); }

  void end_step() override {
    inner_.end_step();
    divide();
  }

  std::int64_t sum(std::int64_t value, std::string_view label) override {
    return inner_.sum(value, label);
  }

  double sum(double value, std::string_view label) override { return inner_.sum(value, label); }

  Fault fault() const override { return inner_.fault(); }

 private:
  void divide() {
    for (const Parameter* p : flatten(model_.layers())) {
      map_elements(p->grad, [](auto g) { return g / of_a_pass; });
    }
  }

  GradientReduction& inner_;
  Model& model_;
  bool divides_;
};

using Gradients = std::map<std::string, std::vector<double>>;

Gradients gradients_of(Model& model) {
  Gradients all;
  for (const Parameter* p : flatten(model.layers())) {
    const auto grad = p->grad.as<double>();
    all[p->name] = {grad.begin(), grad.end()};
  }
  return all;
}

Gradients in_one_process(const std::vector<Batch>& batches) {
  DeviceMemory memory(16 << 20);
  ComputeClock clock;
  const auto model = make_gpt({memory, clock}, config, 3);
  for (const Batch& batch : batches) {
    model->forward_backward(batch);
  }
  return gradients_of(*model);
}

// What stands in each stage's gradients after two passes, beside `expected`: the largest
// difference, and the ratio of the largest gradient.
struct Beside {
  double difference = 0;
  double ratio = 0;
  double squares = 0;
};

enum class Divides { never, at_the_end, after_each_pass };

std::vector<Beside> run_passes(const std::vector<Batch>& batches, const Gradients& expected,
                               Divides divides) {
  return run_ranks_tested(stages, {.region_bytes = 16 << 20}, [&](Rank& rank) {
    const Schedule schedule = two_passes();
    const StageSplit split = split_by_number(config.layers, stages, 1, 2);
    const auto model =
        make_gpt({rank.memory(), rank.clock()}, config, 3,
                 {.layers = layers_of(split, StagePlacement(schedule).stages_on(rank.id()))});
    Comm alone(rank, "dp" + std::to_string(rank.id()), {rank.id()});
    DataParallel dp(alone, rank.memory(), model->layers(), {});
    DividedAfterEachPass divided(dp, *model, divides == Divides::after_each_pass);
    GradientReduction& reduction =
        divides == Divides::never ? static_cast<GradientReduction&>(dp) : divided;
    PipelineStep step(rank.world(), schedule, reduction, *model,
                      [&](int, int m) { return batches[static_cast<std::size_t>(m)]; },
                      {.layers = split, .width = config.hidden, .dtype = DType::f64});
    step(0);
    Beside seen;
    double largest = 0;
    for (const auto& [name, gradient] : gradients_of(*model)) {
      const auto& truth = expected.at(name);
      for (std::size_t i = 0; i < truth.size(); ++i) {
        seen.difference = std::max(seen.difference, std::abs(truth[i] - gradient[i]));
        if (std::abs(truth[i]) > largest) {
          largest = std::abs(truth[i]);
          seen.ratio = gradient[i] / truth[i];
        }
        seen.squares += gradient[i] * gradient[i];
      }
    }
    return seen;
  });
}

Batch samples(std::uint64_t first, std::size_t sequence) {
  return make_batch({.text = builtin_text(), .seed = 3, .sequence = sequence, .context = 1}, 1,
                    first, 1);
}

// Every micro-batch is the same one, so the gradient of each is 1 of what the first alone gives.
TEST(CaseI4, TheMeanOverTwoPassesIsThatOfOneMicroBatch) {
  const Batch one = samples(0, 6);
  const std::vector<Batch> eight(2 * of_a_pass, one);
  const Gradients mean = in_one_process({one});
  Gradients sum = mean;
  for (auto& [name, gradient] : sum) {
    for (double& g : gradient) {
      g *= 2 * of_a_pass;
    }
  }
  for (const Beside& seen : run_passes(eight, sum, Divides::never)) {
    EXPECT_LT(seen.difference, 1e-12);  // and its division by 8, once, is 1.0
    EXPECT_NEAR(seen.ratio, 1, 1e-12);
  }
  for (const Beside& seen : run_passes(eight, mean, Divides::after_each_pass)) {
    EXPECT_NEAR(seen.ratio, 1.25, 1e-12);  // (4/4 + 4) / 4, before the division by the two passes
  }
  for (const Beside& seen : run_passes(eight, mean, Divides::at_the_end)) {
    EXPECT_NEAR(seen.ratio, 2, 1e-12);  // 8/4: of the two passes, of which the mean is 1
  }
}

// Samples of 8 tokens in the first pass and of 6 in the second.
TEST(CaseI6, BothPassesAreInTheGradientThoughTheirShapesDiffer) {
  std::vector<Batch> batches;
  for (int m = 0; m < 2 * of_a_pass; ++m) {
    batches.push_back(samples(static_cast<std::uint64_t>(m), m < of_a_pass ? 8 : 6));
  }
  const Gradients both = in_one_process(batches);
  double squares = 0;
  for (const auto& [name, gradient] : both) {
    for (const double g : gradient) {
      squares += g * g;
    }
  }
  double seen_squares = 0;
  for (const Beside& seen : run_passes(batches, both, Divides::never)) {
    EXPECT_LT(seen.difference, 1e-12);
    seen_squares += seen.squares;
  }
  EXPECT_NEAR(std::sqrt(seen_squares / squares), 1, 1e-12);
  // Wiped before the second pass, the first would be missing.
  const Gradients second = in_one_process({batches.begin() + of_a_pass, batches.end()});
  for (const Beside& seen : run_passes(batches, second, Divides::never)) {
    EXPECT_GT(seen.difference, 1e-3);
  }
}

}  // namespace
}  // namespace ringside
