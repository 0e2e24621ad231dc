// Whether the numbers of a scenario agree with each other.

#include <spdlog/fmt/fmt.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "runtime/errors.hpp"
#include "scenarios/model_settings.hpp"
#include "scenarios/overrides.hpp"

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
    throw BadUse(
        fmt::format("{} ranks on nodes of cluster.gpus_per_node = {} fill {} nodes, but "
                    "cluster.nodes = {}: set "
                    "cluster.nodes = {}, or run {} ranks",
                    ranks, cluster.gpus_per_node, needed, cluster.nodes, needed, gpus));
  }
  settings.ranks = static_cast<int>(ranks);
}

void resolve_degrees(Settings& settings) {
  auto& dp = settings.parallel.dp;
  if (dp == 0) {
    dp = settings.ranks;
  }
  if (dp != settings.ranks) {
    throw BadUse(
        fmt::format("parallel.dp = {0}, but {1} ranks leave {1} for it: leave parallel.dp "
                    "out, set it to {1}, or run with --ranks {0}",
                    dp, settings.ranks));
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

void check_all(Settings& settings) {
  resolve_ranks(settings);
  resolve_degrees(settings);
  check_model(settings);
  if (const auto& text = settings.data.text; !text.empty()) {
    check_text_file(text, "data.text = " + text);
  }
  check_checkpoints(settings);
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
  if (!std::filesystem::is_regular_file(path, failed)) {
    refuse("is no regular file");
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    refuse("cannot be read");
  }
  if (in.peek() == std::ifstream::traits_type::eof()) {
    refuse("is empty");
  }
}

void resolve(Settings& settings) {
  try {
    check_all(settings);
  } catch (const BadUse& refusal) {
    throw BadUse((settings.name.empty() ? "" : settings.name + ": ") + refusal.what());
  }
}

}  // namespace ringside
