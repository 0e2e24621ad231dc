#include "scenarios/overrides.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "runtime/errors.hpp"
#include "runtime/files/place.hpp"
#include "scenarios/setting_keys.hpp"
#include "scenarios/setting_types.hpp"

namespace ringside {
namespace {

constexpr std::string_view dp = "parallel.dp";
constexpr std::string_view ranks = "cluster.ranks";
constexpr std::string_view nodes = "cluster.nodes";
constexpr std::string_view tp = "parallel.tp";
constexpr std::string_view gpus = "cluster.gpus_per_node";

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  return first == std::string_view::npos
             ? std::string()
             : std::string(text.substr(first, text.find_last_not_of(' ') + 1 - first));
}

bool sets(const Overrides& overrides, std::initializer_list<std::string_view> keys) {
  return std::any_of(overrides.set.begin(), overrides.set.end(), [&](const Override& change) {
    return std::find(keys.begin(), keys.end(), change.key) != keys.end();
  });
}

void apply(Settings& settings, const Override& change) {
  const auto* key = find_key(change.key);
  if (key == nullptr) {
    throw BadUse(change.flag + ": " + change.key + ": " + unknown_key(change.key));
  }
  set_key(settings, *key, {.kind = SettingValue::Kind::word, .text = change.value, .items = {}},
          change.flag);
  if (change.key == "data.text" && !change.value.empty()) {
    // From where the user stands, whatever folder the scenario lies in.
    settings.data.text = absolute_place(change.value).string();
    check_text_file(settings.data.text, change.flag);
  }
  if (change.key == "model.config" && change.value.ends_with(".json")) {
    settings.model.config = absolute_place(change.value).string();
  }
  if (change.key == "parallel.schedule" && change.value.ends_with(".csv")) {
    settings.parallel.schedule = absolute_place(change.value).string();
  }
  for (const auto& [name, folder] : {std::pair{"train.save", &TrainSettings::save},
                                     std::pair{"train.resume", &TrainSettings::resume}}) {
    if (change.key == name && !change.value.empty()) {
      settings.train.*folder = absolute_place(change.value).string();
    }
  }
}

int read_ranks(const std::string& text) {
  try {
    return static_cast<int>(
        read_integer({.kind = SettingValue::Kind::word, .text = text, .items = {}}, 1, 65536));
  } catch (const BadUse& refusal) {
    throw BadUse("--ranks " + text + ": " + refusal.what());
  }
}

// The cluster for --ranks.
void place_ranks(Settings& settings, const Overrides& overrides) {
  const int wanted = read_ranks(*overrides.ranks);
  if (sets(overrides, {ranks})) {
    throw BadUse(fmt::format("--ranks {}: cluster.ranks is set too: give one of them", wanted));
  }
  auto& cluster = settings.cluster;
  if (!sets(overrides, {gpus})) {
    if (sets(overrides, {nodes}) && cluster.nodes != 1) {
      throw BadUse(fmt::format(
          "--ranks {0}: is one node of {0} GPUs, but cluster.nodes is set to {1}: add --set "
          "cluster.gpus_per_node={2}",
          wanted, cluster.nodes, (wanted + cluster.nodes - 1) / cluster.nodes));
    }
    cluster.gpus_per_node = wanted;
  }
  settings.ranks = wanted;
  if (!sets(overrides, {nodes})) {
    cluster.nodes = (wanted + cluster.gpus_per_node - 1) / cluster.gpus_per_node;
  }
}

}  // namespace

Override parse_set(const std::string& text) {
  const auto equals = text.find('=');
  const auto key = trimmed(text.substr(0, equals));
  if (equals == std::string::npos || key.empty()) {
    throw BadUse("--set " + text + ": must be key=value, such as --set train.steps=5");
  }
  auto value = trimmed(text.substr(equals + 1));
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
    value = value.substr(1, value.size() - 2);
  }
  return {"--set " + text, key, value};
}

void apply_overrides(Settings& settings, const Overrides& overrides) {
  for (const auto& change : overrides.set) {
    apply(settings, change);
  }
  const bool cluster_changed = sets(overrides, {nodes, gpus, ranks});
  if (overrides.ranks) {
    place_ranks(settings, overrides);
  } else if (cluster_changed && !sets(overrides, {ranks})) {
    settings.ranks = 0;
  }
  if ((cluster_changed || overrides.ranks || sets(overrides, {tp})) && !sets(overrides, {dp})) {
    settings.parallel.dp = 0;
  }
  resolve(settings);
}

std::vector<std::string> changed_by(const Overrides& overrides, Settings scenario,
                                    const Settings& run) {
  scenario.files = run.files;  // the same names are not read again
  try {
    resolve(scenario);
  } catch (const BadUse&) {  // it could only run with the changes: compared as it is written
  }
  std::vector<std::string> changed;
  if (overrides.ranks && scenario.ranks != run.ranks) {
    changed.emplace_back("ranks");
  }
  for (const auto& change : overrides.set) {
    const auto* key = find_key(change.key);
    const bool is_text = key->name == "name" || key->section() == "lesson";
    const bool known = std::find(changed.begin(), changed.end(), key->name) != changed.end();
    if (!is_text && !known && key->print(scenario) != key->print(run)) {
      changed.push_back(key->name);
    }
  }
  return changed;
}

}  // namespace ringside
