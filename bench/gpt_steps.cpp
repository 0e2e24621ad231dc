// Steps per second of the default GPT with data parallelism: the training and nothing beside it, no
// comparison with one process, no log of messages, no pace.
//   bench_gpt_steps RANKS WARMUP STEPS FOLDER
// Prints JSON: parameters; losses, of every step, warm-up included; seconds, the wall time of each
// of the STEPS steps after it (of rank 0; ranks meet in every step); cpu_seconds, processor time of
// all ranks a step. Leaves in FOLDER, for peers to do the same: the state after the first step
// (step-1/), and the samples of all steps after it (samples.safetensors: contexts and targets, i32
// [step, sample, byte]).
#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <cstring>
#include <ctime>
#include <numeric>

#include "models/safetensors.hpp"
#include "models/text.hpp"
#include "parallel/data_parallel.hpp"
#include "parallel/data_parallel_step.hpp"
#include "parallel/gather_checkpoint.hpp"
#include "runtime/launch.hpp"

using namespace ringside;

namespace {

struct Step {
  double loss = 0;
  std::int64_t end_ns = 0;  // of the wall clock
  double cpu_seconds = 0;   // that the process has taken so far
};

// As in the README: a rate of 0.003, 16 samples of 64 bytes.
TrainingPlan plan_of(int steps) {
  return {.model = GptConfig{},
          .optimizer = {.kind = "adamw", .lr = 0.003},
          .data = {.text = builtin_text(), .sequence = 64, .context = 1},
          .steps = steps,
          .batch = 16};
}

HostTensor host_tensor(const TrainingPlan& plan, const std::vector<std::int32_t>& elements) {
  HostTensor tensor{.dtype = DType::i32,
                    .shape = {static_cast<std::size_t>(plan.steps - 1),
                              static_cast<std::size_t>(plan.batch), plan.data.sequence},
                    .bytes = std::vector<std::byte>(elements.size() * sizeof(std::int32_t))};
  std::memcpy(tensor.bytes.data(), elements.data(), tensor.bytes.size());
  return tensor;
}

void save_samples(const std::string& folder, const TrainingPlan& plan) {
  std::vector<std::int32_t> contexts;
  std::vector<std::int32_t> targets;
  for (int step = 1; step < plan.steps; ++step) {
    const Batch batch = make_batch(plan.data, static_cast<std::uint64_t>(step), 0, plan.batch);
    contexts.insert(contexts.end(), batch.contexts.begin(), batch.contexts.end());
    targets.insert(targets.end(), batch.targets.begin(), batch.targets.end());
  }
  save_safetensors(folder + "/samples.safetensors",
                   {.tensors = {{"contexts", host_tensor(plan, contexts)},
                                {"targets", host_tensor(plan, targets)}}});
}

std::vector<Step> train_rank(Rank& rank, const TrainingPlan& plan, const std::string& folder) {
  const auto model = make_model({rank.memory(), rank.clock()}, plan.model, plan.data.seed);
  const auto parameters = flatten(model->layers());
  DataParallel dp(rank.world(), rank.memory(), model->layers(), {});
  const auto optimizer = make_optimizer(plan.optimizer, rank.memory(), parameters);
  DataParallelStep gradient(rank.world(), dp, *model, plan, 1);
  std::vector<Step> steps;
  train(plan, parameters, *optimizer, std::ref(gradient), [&](int step, const StepRecord& record) {
    if (step == 0) {
      const Checkpoint state = gather_checkpoint(rank.world(), plan, 1, {}, parameters, *optimizer);
      if (rank.id() == 0) {
        save_checkpoint(folder, state);
      }
    }
    steps.push_back({.loss = record.loss,
                     .end_ns = rank.wall_ns(),
                     .cpu_seconds = static_cast<double>(std::clock()) / CLOCKS_PER_SEC});
  });
  return steps;
}

std::size_t parameters_of(const TrainingPlan& plan) {
  std::size_t count = 0;
  for (const auto& layer : tensor_counts(plan.model)) {
    count = std::accumulate(layer.begin(), layer.end(), count);
  }
  return count;
}

// By step, warm-up left out; of what a rank had taken at the end of each step.
std::vector<double> wall_seconds(const std::vector<Step>& steps, int warmup) {
  std::vector<double> seconds;
  for (auto s = static_cast<std::size_t>(warmup); s < steps.size(); ++s) {
    seconds.push_back(static_cast<double>(steps[s].end_ns - steps[s - 1].end_ns) * 1e-9);
  }
  return seconds;
}

double cpu_seconds(const std::vector<std::vector<Step>>& ranks, int warmup) {
  double sum = 0;
  for (const auto& steps : ranks) {
    sum += steps.back().cpu_seconds - steps[static_cast<std::size_t>(warmup) - 1].cpu_seconds;
  }
  return sum / static_cast<double>(ranks.front().size() - static_cast<std::size_t>(warmup));
}

void measure(int ranks, int warmup, int steps, const std::string& folder) {
  const TrainingPlan plan = plan_of(warmup + steps);
  JobOptions options;
  options.log = LogLevel::none;
  options.region_bytes = memory_estimate(plan, plan.batch);
  const auto done =
      run_ranks(ranks, options, [&](Rank& rank) { return train_rank(rank, plan, folder); });
  save_samples(folder, plan);
  std::vector<double> losses;
  for (const Step& step : done.front()) {
    losses.push_back(step.loss);
  }
  fmt::print("{{\"parameters\": {}, \"losses\": [{}], \"seconds\": [{}], \"cpu_seconds\": {}}}\n",
             parameters_of(plan), fmt::join(losses, ", "),
             fmt::join(wall_seconds(done.front(), warmup), ", "), cpu_seconds(done, warmup));
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() != 4 || std::stoi(words[1]) < 1 || std::stoi(words[2]) < 1) {
    fmt::print(stderr, "usage: bench_gpt_steps RANKS WARMUP STEPS FOLDER, each at least 1\n");
    return 2;
  }
  try {
    measure(std::stoi(words[0]), std::stoi(words[1]), std::stoi(words[2]), words[3]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
