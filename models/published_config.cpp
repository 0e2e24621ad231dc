#include "models/published_config.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "models/published_config_families.hpp"
#include "runtime/errors.hpp"
#include "runtime/files/json_file.hpp"

namespace ringside {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// Beside the source tree, or beside the program where that was moved.
fs::path configs_folder() {
  std::error_code ignored;
  const auto program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const auto& place :
       {fs::path(RINGSIDE_SOURCE_DIR), program, program / "..", program / "../.."}) {
    if (fs::is_directory(place / "models/configs", ignored)) {
      return (place / "models/configs").lexically_normal();
    }
  }
  throw BadUse("the model configs are neither at " RINGSIDE_SOURCE_DIR
               "/models/configs nor beside the program");
}

// Published files are all called config.json: the folder says whose it is.
std::string name_of(const fs::path& file) {
  const std::string stem = file.stem().string();
  std::error_code ignored;
  const std::string folder = fs::absolute(file, ignored).parent_path().filename().string();
  return stem == "config" && !folder.empty() ? folder : stem;
}

}  // namespace

bool ExpertsConfig::in_layer(std::size_t layer) const {
  return layer >= dense_layers && (layer + ahead) % every == 0 &&
         std::ranges::find(mlp_layers, layer) == mlp_layers.end();
}

std::vector<std::string> published_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(configs_folder())) {
    if (entry.path().extension() == ".json") {
      names.push_back(entry.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

PublishedConfig published_config(std::string_view name) {
  const auto names = published_names();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    std::string known;
    for (const auto& other : names) {
      known += (known.empty() ? "" : ", ") + other;
    }
    throw BadUse("there is no model config \"" + std::string(name) + "\": there are " + known);
  }
  return read_published_config(configs_folder() / (std::string(name) + ".json"));
}

PublishedConfig read_published_config(const fs::path& file) {
  constexpr std::uintmax_t most_bytes = 1 << 20;
  const Json json = read_json(file, "a config.json as models are published with", most_bytes);
  PublishedConfig config = config_of(ConfigSection(file, "", json));
  config.name = name_of(file);
  return config;
}

}  // namespace ringside
