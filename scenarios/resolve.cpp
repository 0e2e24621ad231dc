// Whether the numbers of a scenario agree with each other.

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "models/text.hpp"
#include "parallel/context/context_parallel.hpp"
#include "parallel/mlp_split.hpp"
#include "runtime/errors.hpp"
#include "runtime/files/input_file.hpp"
#include "scenarios/expert_settings.hpp"
#include "scenarios/inputs.hpp"
#include "scenarios/model_settings.hpp"
#include "scenarios/overrides.hpp"
#include "scenarios/parallel_options.hpp"
#include "scenarios/pipeline_settings.hpp"
#include "scenarios/plural.hpp"
#include "scenarios/two_streams_scenario.hpp"

namespace ringside {
namespace {

constexpr std::int64_t most_ranks = 65536;

void resolve_ranks(Settings& settings) {
  const auto& cluster = settings.cluster;
  const std::int64_t gpus = std::int64_t{cluster.nodes} * cluster.gpus_per_node;
  const std::int64_t ranks = settings.ranks > 0 ? settings.ranks : gpus;
  if (ranks > most_ranks) {
    throw BadUse(
        fmt::format("cluster.nodes = {} of cluster.gpus_per_node = {} are {} ranks: at "
                    "most {} can run",
                    cluster.nodes, cluster.gpus_per_node, ranks, most_ranks));
  }
  const auto needed = (ranks + cluster.gpus_per_node - 1) / cluster.gpus_per_node;
  if (needed != cluster.nodes) {
    throw BadUse(fmt::format(
        "{} ranks on nodes of cluster.gpus_per_node = {} fill {}, but "
        "cluster.nodes = {}: set "
        "cluster.nodes = {}, or run {} ranks",
        ranks, cluster.gpus_per_node, plural(needed, "node"), cluster.nodes, needed, gpus));
  }
  settings.ranks = static_cast<int>(ranks);
}

void resolve_degrees(Settings& settings) {
  auto& parallel = settings.parallel;
  if (parallel.tp > settings.ranks || settings.ranks % parallel.tp != 0) {
    const int below = std::max(settings.ranks / parallel.tp, 1) * parallel.tp;
    throw BadUse(fmt::format(
        "parallel.tp = {0} cannot be taken {1} ranks at a time: run with --ranks {2} or "
        "--ranks {3}, or take a parallel.tp that divides {1}",
        parallel.tp, settings.ranks, below, below + parallel.tp));
  }
  const std::int64_t inner = std::int64_t{parallel.tp} * parallel.cp * parallel.pp;
  if (inner > most_ranks) {
    throw BadUse(
        fmt::format("parallel.tp x cp x pp = {} x {} x {} are {} ranks: at most {} can run",
                    parallel.tp, parallel.cp, parallel.pp, inner, most_ranks));
  }
  if (settings.ranks % inner != 0) {
    const std::int64_t below = std::max(settings.ranks / inner, std::int64_t{1}) * inner;
    throw BadUse(fmt::format(
        "parallel.tp x cp x pp = {0} x {1} x {2} = {3} does not divide {4} ranks: run "
        "with --ranks {5} or --ranks {6}",
        parallel.tp, parallel.cp, parallel.pp, inner, settings.ranks, below, below + inner));
  }
  const int left = settings.ranks / static_cast<int>(inner);
  if (parallel.dp == 0) {
    parallel.dp = left;
  }
  if (parallel.dp != left) {
    std::string of = parallel.tp == 1 ? "" : fmt::format(" of parallel.tp = {}", parallel.tp);
    of += parallel.cp == 1 ? "" : fmt::format(" of parallel.cp = {}", parallel.cp);
    of += parallel.pp == 1 ? "" : fmt::format(" of parallel.pp = {}", parallel.pp);
    throw BadUse(
        fmt::format("parallel.dp = {0}, but {1} ranks{2} leave {3} for it: leave parallel.dp "
                    "out, set it to {3}, or run with --ranks {4}",
                    parallel.dp, settings.ranks, of, left, parallel.dp * inner));
  }
}

void check_tensor_parallel(const Settings& settings) {
  const auto& parallel = settings.parallel;
  if (parallel.sp && parallel.tp == 1) {
    throw BadUse(
        "parallel.sp divides the tokens of parallel.tp ranks, but parallel.tp = 1: set it "
        "to 2 or more, or leave parallel.sp off");
  }
  if (parallel.tp > 1 && settings.model.kind != "gpt" && !at_true_scale(settings)) {
    throw BadUse(
        fmt::format("parallel.tp = {} cuts the layers of a gpt, but model.kind = {}: set "
                    "model.kind = gpt, or parallel.tp = 1",
                    parallel.tp, settings.model.kind));
  }
  if (!parallel.split.empty()) {
    require_divisible(parse_mlp_split(parallel.split), settings.ranks);
  }
  if (!parallel.streams.empty()) {
    require_two_streams(settings);
  }
  if (settings.checks.expect == "fail" && parallel.split != "row_first") {
    throw BadUse("checks.expect = fail: only parallel.split = row_first is known to be wrong");
  }
}

void check_context_parallel(const Settings& settings) {
  const auto& parallel = settings.parallel;
  if (parallel.cp == 1) {
    return;
  }
  if (at_true_scale(settings)) {
    throw BadUse(
        fmt::format("parallel.cp = {} with model.config = {} cannot run: its layers on meta memory "
                    "do not look across ranks; leave one of them out",
                    parallel.cp, settings.model.config));
  }
  if (settings.model.kind != "gpt") {
    throw BadUse(
        fmt::format("parallel.cp = {} cuts the samples of a gpt, but model.kind = {}: set "
                    "model.kind = gpt, or parallel.cp = 1",
                    parallel.cp, settings.model.kind));
  }
  require_usable(std::get<GptConfig>(model_of(settings)), parallel.tp,
                 parse_context_form(parallel.cp_form), parallel.cp);
}

void check_recompute_usable(const Settings& settings) {
  const std::string& recompute = settings.parallel.recompute;
  if (recompute == "none") {
    return;
  }
  if (at_true_scale(settings) && recompute != "full") {
    throw BadUse("parallel.recompute = " + recompute +
                 " forgets the weights of attention, which model.config = " +
                 settings.model.config + " on meta memory does not save: set it to full or none");
  }
  if (at_true_scale(settings) && settings.parallel.tp > 1) {
    throw BadUse(
        fmt::format("parallel.recompute = {} of model.config with parallel.tp = {} cannot run yet: "
                    "set parallel.tp to 1, or parallel.recompute to none",
                    recompute, settings.parallel.tp));
  }
  if (settings.model.kind != "gpt" && !at_true_scale(settings)) {
    throw BadUse("parallel.recompute = " + recompute +
                 " is for the blocks of model.kind = gpt, or of model.config: set it to none, or "
                 "train a gpt");
  }
}

bool is_utf8(const std::string& text) {
  try {
    return !nlohmann::json(text).dump().empty();
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

void check_checkpoints(const Settings& settings) {
  const auto& [save, resume] = std::pair(settings.train.save, settings.train.resume);
  if (!settings.model.config.empty() && !(save.empty() && resume.empty())) {
    throw BadUse("model.config = " + settings.model.config +
                 " is trained without data, so there is nothing to save or to go on from: leave "
                 "train.save and train.resume out");
  }
  if (settings.train.save_every > 0 && save.empty()) {
    throw BadUse(fmt::format("train.save_every = {} needs a folder: set train.save, or --save DIR",
                             settings.train.save_every));
  }
  if (!is_utf8(save) || !is_utf8(resume)) {
    throw BadUse(
        "train.save and train.resume: a path that is not UTF-8 could not be named in "
        "scenario.toml: choose another folder");
  }
}

void check_precision(const Settings& settings) {
  const TrainSettings& train = settings.train;
  if (at_true_scale(settings) && (train.clip > 0 || train.loss_scale != "none")) {
    throw BadUse("model.config = " + settings.model.config +
                 " is trained without data, so there is no norm to clip and no loss to scale: "
                 "leave train.clip and train.loss_scale out");
  }
  if (!train.masters && element_type(settings) != DType::bf16) {
    throw BadUse("train.masters = false is for bf16 weights, but these are " +
                 std::string(name_of(element_type(settings))) +
                 ": leave it out, or take a model.config");
  }
}

// What the planner refuses is not run either. A schedule out of a file is known to the runner only.
void check_plan(const Settings& settings) {
  const auto names = schedule_names();
  if (settings.model.kind == "gpt" && !at_true_scale(settings) &&
      std::ranges::count(names, settings.parallel.schedule) > 0) {
    require_usable(mesh_plan_of(settings), std::get<GptConfig>(model_of(settings)), settings.ranks,
                   static_cast<std::size_t>(settings.model.experts));
  }
}

void resolve_order(Settings& settings) {
  auto& order = settings.parallel.order;
  try {
    order = text_of(parse_order(order));
  } catch (const BadUse& refusal) {
    throw BadUse("parallel.order: " + std::string(refusal.what()));
  }
}

void resolve_buckets(Settings& settings) {
  const bool gathered = settings.parallel.zero == 3;
  if (gathered && settings.dp.bucket_by == "size") {
    throw BadUse(
        "dp.bucket_by = size lets a bucket span layers, but parallel.zero = 3 gathers a layer's "
        "buckets together before it computes, and frees them after: set dp.bucket_by to layer, "
        "leave it out, or take parallel.zero = 2");
  }
  if (settings.dp.bucket_by.empty()) {
    settings.dp.bucket_by = gathered ? "layer" : "size";
  }
}

void check_all(Settings& settings) {
  read_plan_files(settings);
  resolve_ranks(settings);
  resolve_degrees(settings);
  resolve_order(settings);
  resolve_buckets(settings);
  check_tensor_parallel(settings);
  check_context_parallel(settings);
  check_expert_settings(settings);
  check_recompute_usable(settings);
  check_model(settings);
  check_pipeline_settings(settings);
  if (const auto& text = settings.data.text; !text.empty()) {
    check_text_file(text, "data.text = " + text);
  }
  check_checkpoints(settings);
  check_precision(settings);
  if (settings.parallel.zero == 1 && settings.dp.sync_every_microbatch) {
    throw BadUse(
        "parallel.zero = 1 keeps whole gradients and reduces them once a step: leave "
        "dp.sync_every_microbatch off, or take parallel.zero = 2");
  }
  if (settings.parallel.microbatches > settings.train.batch) {
    throw BadUse(
        fmt::format("train.batch = {0} samples cannot fill parallel.microbatches = {1}: at "
                    "most {0} microbatches, or a batch of {1}",
                    settings.train.batch, settings.parallel.microbatches));
  }
  check_plan(settings);
}

}  // namespace

void check_text_file(const std::string& path, const std::string& where) {
  std::error_code failed;
  const auto refuse = [&](const char* why) {
    throw BadUse(where + ": " + why + ": give a file with at least one byte that you may read");
  };
  if (!is_utf8(path)) {
    refuse("its path is not UTF-8, and scenario.toml could not name it");
  }
  if (!std::filesystem::exists(path, failed)) {
    refuse("there is no such file");
  }
  std::array<char, 1> first{};
  try {
    InputFile file(path, "a text");
    file.require_at_most(most_text_bytes);
    if (file.read(first) > 0) {
      return;
    }
  } catch (const BadUse& refusal) {
    throw BadUse(where + ": " + refusal.what());
  }
  refuse("is empty");
}

void resolve(Settings& settings) {
  try {
    check_all(settings);
  } catch (const BadUse& refusal) {
    throw BadUse((settings.name.empty() ? "" : settings.name + ": ") + refusal.what());
  }
}

}  // namespace ringside
