#include "scenarios/pipeline_settings.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <numeric>

#include "parallel/pipeline/generators.hpp"
#include "parallel/pipeline/validate.hpp"
#include "runtime/errors.hpp"
#include "scenarios/model_settings.hpp"
#include "scenarios/parallel_options.hpp"

namespace ringside {

namespace {

Schedule from_file(const Settings& s) {
  const auto& p = s.parallel;
  const Schedule& schedule = s.files.schedule.of(p.schedule);
  require_valid(schedule);
  const auto devices = static_cast<int>(schedule.devices.size());
  if (devices != p.pp || schedule.microbatches != p.microbatches) {
    throw BadUse(fmt::format(
        "parallel.schedule = {}: is for {} devices and {} microbatches, but "
        "parallel.pp = {} and parallel.microbatches = {}: set them to {} and {}, or write "
        "another file with `ringside schedule NAME --stages {} --microbatches {} --csv "
        "FILE`",
        p.schedule, devices, schedule.microbatches, p.pp, p.microbatches, devices,
        schedule.microbatches, p.pp, p.microbatches));
  }
  return schedule;
}

// Multiplications of a token, by layer.
std::vector<std::int64_t> costs_of_layers(const Settings& s) {
  std::vector<std::int64_t> costs;
  for (const auto& layer : tensor_counts(model_of(s))) {
    costs.push_back(
        std::accumulate(layer.begin(), layer.end(), std::int64_t{0},
                        [](auto sum, auto n) { return sum + static_cast<std::int64_t>(n); }));
  }
  costs.front() = 0;  // the embedding looks up
  if (s.model.tied) {
    costs.back() = std::int64_t{s.model.vocab} * s.model.hidden;
  }
  return costs;
}

LayersHere count_layers(const std::vector<std::size_t>& layers, std::size_t blocks) {
  LayersHere here{.embed = 0, .blocks = 0, .norm = 0, .head = 0};
  for (const std::size_t layer : layers) {
    ++(layer == 0            ? here.embed
       : layer <= blocks     ? here.blocks
       : layer == blocks + 1 ? here.norm
                             : here.head);
  }
  return here;
}

}  // namespace

Schedule schedule_of(const Settings& s) {
  const auto& p = s.parallel;
  if (p.schedule.ends_with(".csv")) {
    return from_file(s);
  }
  const int stages = p.schedule == "dualpipev" ? 2 * p.pp : p.pp;
  Schedule schedule = make_schedule(
      p.schedule, {.stages = stages, .microbatches = p.microbatches, .chunks = p.chunks});
  require_valid(schedule);
  return schedule;
}

StageSplit split_of(const Settings& s, int stages) {
  const auto blocks = static_cast<std::size_t>(s.model.layers);
  require_blocks(blocks, stages);
  return s.parallel.stages == "cost" ? split_by_cost(costs_of_layers(s), stages)
                                     : split_by_number(blocks, stages, 1, 2);
}

PipelinePlan pipeline_plan(const Settings& s) {
  PipelinePlan plan{.schedule = schedule_of(s), .split = {}};
  plan.split = split_of(s, plan.schedule.stages);
  if (s.costs.fixed()) {
    plan.costs = StageCosts{s.costs.forward, s.costs.input_gradient, s.costs.weight_gradient};
  }
  return plan;
}

void check_pipeline_settings(const Settings& s) {
  const auto& p = s.parallel;
  if (p.pp == 1) {
    if (!p.schedule.ends_with(".csv")) {
      schedule_row(p.schedule);
    }
    if (s.costs.fixed()) {
      throw BadUse(
          "costs.F, costs.I and costs.W are of the stages of a pipeline, but parallel.pp = 1: set "
          "parallel.pp, or leave them out");
    }
    return;
  }
  if (s.model.kind != "gpt" || at_true_scale(s)) {
    throw BadUse(
        fmt::format("parallel.pp = {} deals out the blocks of model.kind = gpt without "
                    "model.config: train a gpt, or set parallel.pp = 1",
                    p.pp));
  }
  if (s.dp.sync_every_microbatch) {
    throw BadUse(
        "dp.sync_every_microbatch with parallel.pp: the micro-batches of a pipeline are under way "
        "together and are reduced once: leave dp.sync_every_microbatch off");
  }
  pipeline_plan(s);
}

LayersHere layers_here(const Settings& s, int rank, std::optional<int> microbatch) {
  if (s.parallel.pp == 1) {
    return {.blocks = s.model.layers};
  }
  const PipelinePlan plan = pipeline_plan(s);
  const StagePlacement placement(plan.schedule);
  const int device = mesh_of(s, rank).at(Axis::pp);
  std::vector<int> stages;
  for (const int stage : placement.stages_on(device)) {
    if (!microbatch || placement.device_of(stage, *microbatch) == device) {
      stages.push_back(stage);
    }
  }
  return count_layers(layers_of(plan.split, stages), static_cast<std::size_t>(s.model.layers));
}

std::int64_t gathers_of_stages(const Schedule& schedule, int device,
                               const std::vector<int>& stages) {
  std::int64_t gathers = 0;
  int outstanding = 0;
  for (const Action& action : schedule.devices[static_cast<std::size_t>(device)]) {
    if (std::ranges::find(stages, action.stage) == stages.end()) {
      continue;
    }
    const bool released = action.kind == ActionKind::weight_gradient;
    gathers += !released && outstanding == 0 ? 1 : 0;
    outstanding += action.kind == ActionKind::input_gradient ? 1 : released ? -1 : 0;
  }
  return gathers;
}

std::string stages_text(const Settings& s) {
  return split_text(pipeline_plan(s).split) + " layers";
}

}  // namespace ringside
