// Figures of section PP that are measured on running jobs: the anchor's text layers on the devices
// of a pipeline, meta tensors at true scale, with links that take no time.
#include <algorithm>
#include <numeric>

#include "models/meta_layer.hpp"
#include "parallel/data_parallel.hpp"
#include "parallel/pipeline/executor.hpp"
#include "parallel/pipeline/generators.hpp"
#include "runtime/launch.hpp"
#include "scenarios/figures_executed.hpp"

namespace ringside {

namespace {

constexpr int devices = 8;
constexpr Time unit = std::chrono::microseconds(12);  // of F, of I and of W; chunks divide it

// What one device saw of a step; plain, so that it travels as it is.
struct Seen {
  std::int64_t bytes = 0;     // of a message to a neighbour
  std::int64_t blocks = 0;    // that it holds
  std::int64_t elements = 0;  // of the parameters
  std::int64_t in_flight = 0;
  Time start{0};
  Time end{0};
};

// The text's layers by stage, as many blocks in each.
std::vector<std::vector<PublishedLayer>> staged(const PublishedModel& model, int stages) {
  const std::size_t blocks = model.config.layers / static_cast<std::size_t>(stages);
  std::vector<std::vector<PublishedLayer>> all(static_cast<std::size_t>(stages));
  for (const PublishedLayer& layer : model.layers) {
    constexpr std::string_view of_block = "layers.";
    if (layer.name.starts_with(of_block)) {
      all.at(std::stoul(layer.name.substr(of_block.size())) / blocks).push_back(layer);
    } else if (layer.name == "embed") {
      all.front().push_back(layer);
    } else if (layer.name == "final_norm" || layer.name == "head") {
      all.back().push_back(layer);
    }
  }
  return all;
}

Seen seen_of(Rank& rank, const PipelineStep& step, Model& model, const PublishedModel& part) {
  Seen seen{.in_flight = step.peak_in_flight(),
            .start = step.times().start,
            .end = step.times().backward_end};
  for (const TrafficSum& sum : rank.traffic().sums()) {
    if (sum.sent_messages > 0 && std::string_view(sum.label).empty()) {
      seen.bytes = sum.sent_bytes / sum.sent_messages;
    }
  }
  seen.blocks = std::ranges::count_if(part.layers, continues_block);
  for (const Parameter* p : flatten(model.layers())) {
    seen.elements += static_cast<std::int64_t>(p->value.count());
  }
  return seen;
}

std::vector<Seen> run_pipeline(const FigureInputs& inputs, std::string_view name,
                               const PipelineShape& shape) {
  const Schedule schedule = make_schedule(name, shape);
  const auto stages = staged(inputs.anchor, schedule.stages);
  PipelineOptions options{.layers = {},
                          .width = inputs.anchor.config.hidden,
                          .dtype = DType::bf16,
                          .costs = StageCosts{unit, unit, unit}};
  for (const auto& stage : stages) {
    options.layers.push_back(stage.size());
  }
  const Link free{Rate{Rate::infinite}, Time{0}};
  const JobOptions job{
      .cluster = {.nvlink = free, .ib = free, .flops = Rate{Rate::infinite}, .capacity = {}},
      .memory = Backing::meta};
  return run_ranks(devices, job, [&](Rank& rank) {
    PublishedModel part{.config = inputs.anchor.config, .layers = {}};
    const StagePlacement placement(schedule);
    for (const int stage : placement.stages_on(rank.id())) {
      const auto& layers = stages[static_cast<std::size_t>(stage)];
      part.layers.insert(part.layers.end(), layers.begin(), layers.end());
    }
    const auto model = make_meta_model({rank.memory(), rank.clock()}, part, DType::bf16);
    Comm pipeline(rank, "pp", {0, 1, 2, 3, 4, 5, 6, 7});
    Comm alone(rank, "dp" + std::to_string(rank.id()), {rank.id()});
    DataParallel reduction(alone, rank.memory(), model->layers(), {});
    PipelineStep step(
        pipeline, schedule, reduction, *model,
        [&](int, int) { return meta_batch(static_cast<std::size_t>(inputs.tokens)); }, options);
    step(0);
    return seen_of(rank, step, *model, part);
  });
}

Executed equal_on_all(double value, std::string how) {
  return {.mean = value, .least = value, .most = value, .summed = std::move(how)};
}

std::vector<std::int64_t> values_of(const std::vector<Seen>& ranks, std::int64_t Seen::*value) {
  std::vector<std::int64_t> values;
  for (const Seen& seen : ranks) {
    values.push_back(seen.*value);
  }
  return values;
}

// From the first device's start to the last one's end, beside what each has to compute.
struct Bubble {
  double waiting;
  double work;

  Executed over_ideal(const char* of) const {
    return equal_on_all(waiting / work, std::string(of) + ": modelled waiting over work");
  }

  Executed over_total(const char* of) const {
    return equal_on_all(waiting / (waiting + work),
                        std::string(of) + ": modelled waiting over the time of the step");
  }
};

Bubble bubble_of(const std::vector<Seen>& ranks, int microbatches) {
  Time start = ranks.front().start;
  Time end{0};
  for (const Seen& seen : ranks) {
    start = std::min(start, seen.start);
    end = std::max(end, seen.end);
  }
  const Time work = 3 * microbatches * unit;
  return {static_cast<double>((end - start - work).count()), static_cast<double>(work.count())};
}

// Elements on all devices of DualPipe over those of one that has them once.
Executed copies_of_parameters(const FigureInputs& inputs, const std::vector<Seen>& once) {
  const auto twice = run_pipeline(inputs, "dualpipe", {.stages = devices, .microbatches = 16});
  const auto sum = [](const std::vector<Seen>& ranks) {
    const auto elements = values_of(ranks, &Seen::elements);
    return static_cast<double>(std::accumulate(elements.begin(), elements.end(), std::int64_t{0}));
  };
  return equal_on_all(sum(twice) / sum(once), "dualpipe: parameters on 8 devices over 1f1b's");
}

}  // namespace

std::map<std::string, Executed> executed_pipeline_figures(const FigureInputs& inputs) {
  constexpr int many = 32;
  constexpr int few = 8;
  const auto plain = run_pipeline(inputs, "1f1b", {.stages = devices, .microbatches = many});
  const Bubble bubble = bubble_of(plain, many);
  const Bubble of_few =
      bubble_of(run_pipeline(inputs, "1f1b", {.stages = devices, .microbatches = few}), few);
  const Bubble interleaved = bubble_of(
      run_pipeline(inputs, "interleaved", {.stages = devices, .microbatches = many, .chunks = 4}),
      many);
  const Bubble naive =
      bubble_of(run_pipeline(inputs, "naive", {.stages = devices, .microbatches = few}), few);
  const Bubble zero_bubble =
      bubble_of(run_pipeline(inputs, "zb_h1", {.stages = devices, .microbatches = many}), many);
  const auto in_flight = values_of(plain, &Seen::in_flight);
  return {
      {"PP02", over_ranks(values_of(plain, &Seen::blocks), 1, "blocks that a device holds")},
      {"PP03", over_ranks(values_of(plain, &Seen::bytes), 1, "bytes of a message between stages")},
      {"PP04", bubble.over_ideal("1f1b")},
      {"PP05", bubble.over_total("1f1b")},
      {"PP06", interleaved.over_ideal("interleaved, v = 4")},
      {"PP07", naive.over_total("naive")},
      {"PP08", of_few.over_ideal("1f1b, m = 8")},
      {"PP09", of_few.over_total("1f1b, m = 8")},
      {"PP11", bubble.over_total("1f1b")},
      {"PP12", equal_on_all(zero_bubble.waiting / bubble.waiting, "zb_h1's waiting over 1f1b's")},
      {"PP13", equal_on_all(static_cast<double>(*std::ranges::max_element(in_flight)),
                            "1f1b: the most micro-batches in flight on a device")},
      {"PP15", copies_of_parameters(inputs, plain)}};
}

}  // namespace ringside
