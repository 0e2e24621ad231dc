// A pipeline that runs a schedule has the bits of one process that adds the micro-batches up in the
// same order.
#include "parallel/pipeline/executor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <utility>

#include "collectives/chunk.hpp"
#include "models/model_config.hpp"
#include "models/text.hpp"
#include "parallel/data_parallel.hpp"
#include "parallel/pipeline/generators.hpp"
#include "parallel/pipeline/in_flight.hpp"
#include "parallel/pipeline/parameter_copies.hpp"
#include "parallel/pipeline/stage_split.hpp"
#include "runtime/errors.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {
namespace {

constexpr int microbatches = 8;

TrainingPlan plan_of(std::size_t blocks) {
  return {.model = GptConfig{.layers = blocks, .hidden = 8, .heads = 2, .kv_heads = 1, .ffn = 6},
          .optimizer = {},
          .data = {.text = builtin_text(), .seed = 3, .sequence = 6, .context = 1},
          .batch = 11};  // micro-batches of 2 samples, and of 1
}

Batch microbatch_of(const TrainingPlan& plan, int step, int index) {
  const Chunk part = chunk_of(plan.batch, microbatches, index);
  return make_batch(plan.data, static_cast<std::uint64_t>(step), part.first, part.count);
}

struct Sum {
  double loss = 0;
  std::map<std::string, std::vector<float>> gradients{};
};

void collect(Model& model, Sum& sum) {
  for (const Parameter* p : flatten(model.layers())) {
    const auto grad = p->grad.as<float>();
    sum.gradients[p->name] = {grad.begin(), grad.end()};
  }
}

Sum in_one_process(const TrainingPlan& plan) {
  DeviceMemory memory(memory_estimate(plan, plan.batch));
  ComputeClock clock;
  const auto model = make_model({memory, clock}, plan.model, plan.data.seed);
  Sum sum;
  for (int m = 0; m < microbatches; ++m) {
    sum.loss += model->forward_backward(microbatch_of(plan, 0, m));
  }
  collect(*model, sum);
  return sum;
}

Schedule schedule_of(std::string_view name) {
  return make_schedule(
      name, {.stages = 4, .microbatches = microbatches, .chunks = name == "interleaved" ? 2 : 1});
}

struct Seen {
  int different = 0;  // tensors
  double loss = 0;
  int peak_in_flight = 0;
};

// A device of the pipeline, with all that it needs.
struct Device {
  Device(Rank& rank, const Schedule& schedule, const TrainingPlan& plan,
         std::optional<StageCosts> costs = {}, Fault fault = Fault::none)
      : config(std::get<GptConfig>(plan.model)),
        layers(split_by_number(config.layers, schedule.stages, 1, 2)),
        model(
            make_gpt({rank.memory(), rank.clock()}, config, plan.data.seed,
                     {.layers = layers_of(layers, StagePlacement(schedule).stages_on(rank.id()))})),
        alone(rank, "dp" + std::to_string(rank.id()), {rank.id()}),
        dp(alone, rank.memory(), model->layers(), {.buckets = {.limit = Bytes{400}}}),
        step(rank.world(), schedule, dp, *model,
             [&plan](int s, int m) { return microbatch_of(plan, s, m); },
             {.layers = layers, .width = config.hidden, .costs = costs, .fault = fault}) {}

  GptConfig config;
  StageSplit layers;
  std::unique_ptr<Model> model;
  Comm alone;
  DataParallel dp;
  PipelineStep step;
};

Seen run_device(Rank& rank, const Schedule& schedule, const TrainingPlan& plan, const Sum& truth) {
  Device device(rank, schedule, plan);
  Sum own{.loss = device.step(0).loss};
  collect(*device.model, own);
  Seen seen{.loss = own.loss, .peak_in_flight = device.step.peak_in_flight()};
  for (const auto& [name, gradient] : own.gradients) {
    seen.different += gradient != truth.gradients.at(name) ? 1 : 0;
  }
  return seen;
}

class PipelineBits : public testing::TestWithParam<std::string_view> {};

TEST_P(PipelineBits, EqualOneProcessThatAddsMicrobatchesUpInAscendingOrder) {
  const Schedule schedule = schedule_of(GetParam());
  const TrainingPlan plan = plan_of(9);
  const Sum truth = in_one_process(plan);
  for (const std::size_t eager : {std::size_t{0}, std::size_t{4096}}) {
    const JobOptions job{.eager_limit = eager, .region_bytes = memory_estimate(plan, plan.batch)};
    const auto seen =
        run_ranks_tested(static_cast<int>(schedule.devices.size()), job,
                         [&](Rank& rank) { return run_device(rank, schedule, plan, truth); });
    double loss = 0;
    for (std::size_t d = 0; d < seen.size(); ++d) {
      EXPECT_EQ(seen[d].different, 0);
      EXPECT_EQ(seen[d].peak_in_flight, peak_in_flight(schedule).freed_at_W[d]);
      loss += seen[d].loss;
    }
    EXPECT_EQ(loss, truth.loss);
  }
}

INSTANTIATE_TEST_SUITE_P(Schedules, PipelineBits,
                         testing::Values("naive", "gpipe", "1f1b", "interleaved", "zb_h1", "zb_h2",
                                         "dualpipev"));

// ---- Copies -------------------------------------------------------------------------------------

// One process that adds up the micro-batches of each direction apart.
Sum in_two_halves(const TrainingPlan& plan) {
  DeviceMemory memory(2 * memory_estimate(plan, plan.batch));
  ComputeClock clock;
  Sum sum;
  for (const int half : {0, 1}) {
    const auto model = make_model({memory, clock}, plan.model, plan.data.seed);
    for (int m = half * microbatches / 2; m < (half + 1) * microbatches / 2; ++m) {
      sum.loss += model->forward_backward(microbatch_of(plan, 0, m));
    }
    const auto first = std::exchange(sum.gradients, {});
    collect(*model, sum);
    for (const auto& [name, gradient] : first) {
      std::ranges::transform(gradient, sum.gradients.at(name), sum.gradients.at(name).begin(),
                             std::plus<>());
    }
  }
  return sum;
}

TEST(PipelineCopies, OfDualPipeAddUpToTheSumOfBothDirections) {
  const Schedule schedule = schedule_of("dualpipe");
  const TrainingPlan plan = plan_of(5);
  const Sum truth = in_two_halves(plan);
  const JobOptions job{.eager_limit = 0, .region_bytes = memory_estimate(plan, plan.batch)};
  const auto seen = run_ranks_tested(4, job, [&](Rank& rank) {
    Device device(rank, schedule, plan);
    ParameterCopies copies(rank.world(), schedule, false, "ring");
    device.step(0);
    const auto parameters = flatten(device.model->layers());
    Sum own;
    collect(*device.model, own);
    int half = 0;
    int whole = 0;
    for (const Parameter* p : parameters) {
      half += own.gradients.at(p->name) != truth.gradients.at(p->name) ? 1 : 0;
    }
    copies.sum_gradients(parameters);
    collect(*device.model, own);
    for (const Parameter* p : parameters) {
      whole += own.gradients.at(p->name) != truth.gradients.at(p->name) ? 1 : 0;
    }
    EXPECT_GT(half, 0);  // not before
    EXPECT_EQ(device.step.peak_in_flight(),
              peak_in_flight(schedule).freed_at_W[static_cast<std::size_t>(rank.id())]);
    EXPECT_EQ(copies.counts_here(*parameters.front()), rank.id() < 2);
    return whole;
  });
  for (const int different : seen) {
    EXPECT_EQ(different, 0);
  }
}

// The table's two gradients, each added up over the micro-batches.
std::vector<float> tied_gradient(const TrainingPlan& plan) {
  const auto& config = std::get<GptConfig>(plan.model);
  DeviceMemory memory(2 * memory_estimate(plan, plan.batch));
  ComputeClock clock;
  std::vector<std::size_t> body(config.layers + 2);
  std::iota(body.begin(), body.end(), std::size_t{0});
  const auto rest = make_gpt({memory, clock}, config, plan.data.seed, {.layers = body});
  const auto head =
      make_gpt({memory, clock}, config, plan.data.seed, {.layers = {config.layers + 2}});
  for (int m = 0; m < microbatches; ++m) {
    const Batch batch = microbatch_of(plan, 0, m);
    const auto sequences = make_sequences(batch.lengths);
    LayerHooks hooks;
    Stage first(*rest, 0, body.size());
    Stage last(*head, 0, 1);
    const Tensor logits = last.forward(m, first.forward(m, rest->input_of(batch), sequences, hooks),
                                       sequences, hooks);
    first.backward(m, last.backward(m, head->loss(logits, batch).grad, hooks), hooks);
  }
  const auto embedding = flatten(rest->layers()).front()->grad.as<float>();
  const auto of_head = flatten(head->layers()).front()->grad.as<float>();
  std::vector<float> sum(embedding.size());
  std::ranges::transform(embedding, of_head, sum.begin(), std::plus<>());
  return sum;
}

TEST(PipelineCopies, OfATiedTableAddUpToTheSumOfItsTwoGradients) {
  TrainingPlan plan = plan_of(3);
  std::get<GptConfig>(plan.model).tied = true;
  const auto truth = tied_gradient(plan);
  for (const int stages : {2, 3}) {
    const Schedule schedule =
        make_schedule("1f1b", {.stages = stages, .microbatches = microbatches});
    const JobOptions job{.eager_limit = 0, .region_bytes = memory_estimate(plan, plan.batch)};
    const auto equal = run_ranks_tested(stages, job, [&](Rank& rank) {
      Device device(rank, schedule, plan);
      ParameterCopies copies(rank.world(), schedule, true, "ring");
      device.step(0);
      copies.sum_gradients(flatten(device.model->layers()));
      Sum own;
      collect(*device.model, own);
      EXPECT_EQ(own.gradients.contains("embed.weight"), rank.id() == 0 || rank.id() == stages - 1);
      return !own.gradients.contains("embed.weight") || own.gradients.at("embed.weight") == truth;
    });
    for (const bool same : equal) {
      EXPECT_TRUE(same);
    }
  }
}

// ---- Time ---------------------------------------------------------------------------------------

constexpr Time unit = std::chrono::microseconds(3);

// No link takes time, and nothing but the stages does.
JobOptions free_links(const TrainingPlan& plan) {
  const Link free{Rate{Rate::infinite}, Time{0}};
  return {.cluster = {.nvlink = free, .ib = free, .flops = Rate{Rate::infinite}, .capacity = {}},
          .region_bytes = memory_estimate(plan, plan.batch)};
}

Time makespan(const Schedule& schedule, const TrainingPlan& plan, const StageCosts& costs) {
  const auto ends = run_ranks_tested(
      static_cast<int>(schedule.devices.size()), free_links(plan), [&](Rank& rank) {
        Device device(rank, schedule, plan, costs);
        device.step(0);
        return device.step.times().backward_end - device.step.times().start;
      });
  return *std::ranges::max_element(ends);
}

TEST_P(PipelineBits, TakeTheTimeOfTheScheduleToThePicosecond) {
  const TrainingPlan plan = plan_of(9);
  const Schedule schedule = schedule_of(GetParam());
  for (const auto& [f, i, w] : {std::array{1, 1, 1}, {2, 3, 1}, {4, 2, 6}}) {
    const Rational expected =
        time_of(schedule, {.forward = f, .input_gradient = i, .weight_gradient = w}).makespan();
    const Time measured =
        makespan(schedule, plan,
                 {.forward = f * unit, .input_gradient = i * unit, .weight_gradient = w * unit});
    EXPECT_EQ(Rational(measured.count()), expected * Rational(unit.count())) << f << i << w;
  }
}

// ---- Waits --------------------------------------------------------------------------------------

TEST(PipelineExecutor, BlockingSendsDeadlock1f1bAndAreNamed) {
  const Schedule schedule = make_schedule("1f1b", {.stages = 2, .microbatches = microbatches});
  const TrainingPlan plan = plan_of(2);
  const JobOptions job{.eager_limit = 0, .region_bytes = memory_estimate(plan, plan.batch)};
  try {
    run_ranks(2, job, [&](Rank& rank) {
      Device device(rank, schedule, plan, {}, Fault::blocking_sends);
      device.step(0);
    });
    FAIL() << "it did not deadlock";
  } catch (const Deadlock& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("rank 0"));
    EXPECT_THAT(e.what(), testing::HasSubstr("rank 1"));
  }
}

}  // namespace
}  // namespace ringside
