#include "scenarios/scenario_file.hpp"

#include <algorithm>
#include <optional>
#include <system_error>

#include "runtime/errors.hpp"
#include "runtime/files/input_file.hpp"
#include "runtime/files/place.hpp"
#include "scenarios/near_miss.hpp"
#include "scenarios/setting_keys.hpp"

namespace ringside {

namespace fs = std::filesystem;

std::optional<fs::path> scenarios_folder() {
  std::vector<fs::path> places{fs::path(RINGSIDE_SOURCE_DIR)};
  std::error_code ignored;
  const auto program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const auto* up : {".", "..", "../.."}) {
    places.push_back((program / up).lexically_normal());
  }
  for (const auto& place : places) {
    if (fs::is_directory(place / "scenarios" / "dp", ignored)) {
      return place / "scenarios";
    }
  }
  return std::nullopt;
}

namespace {

constexpr std::uintmax_t largest_file = 1 << 20;

std::string name_in(const fs::path& folder, const fs::path& path) {
  return path.lexically_relative(folder).replace_extension().generic_string();
}

// Relative to where the user stands when it lies below.
std::string shown(const fs::path& path) {
  std::error_code failed;
  const auto relative = path.lexically_relative(fs::current_path(failed));
  const bool below = !failed && !relative.empty() && *relative.begin() != "..";
  return below ? relative.string() : path.string();
}

ScenarioFile at_path(const std::string& name) {
  std::error_code failed;
  const auto path = absolute_place(name);
  if (!fs::exists(path, failed)) {
    throw BadUse("scenario " + name +
                 ": there is no such file; `ringside list` shows all scenarios");
  }
  const auto folder = scenarios_folder();
  const auto in_tree = folder ? name_in(*folder, path) : std::string("..");
  const bool ours = !in_tree.empty() && !in_tree.starts_with("..");
  return {ours ? in_tree : path.stem().string(), path};
}

}  // namespace

std::vector<ScenarioFile> list_scenarios() {
  const auto folder = scenarios_folder();
  if (!folder) {
    throw BadUse(
        "the scenarios are not at " RINGSIDE_SOURCE_DIR
        "/scenarios any more, nor near the program: give the path of a .toml file, or build "
        "again");
  }
  std::vector<ScenarioFile> files;
  for (const auto& entry : fs::recursive_directory_iterator(*folder)) {
    if (entry.is_regular_file() && entry.path().extension() == ".toml") {
      files.push_back({name_in(*folder, entry.path()), entry.path()});
    }
  }
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return files;
}

ScenarioFile find_scenario(const std::string& name) {
  if (name.ends_with(".toml")) {
    return at_path(name);
  }
  std::vector<std::string> names, inside;
  for (const auto& file : list_scenarios()) {
    if (file.name == name) {
      return file;
    }
    names.push_back(file.name);
    if (file.name.starts_with(name + "/")) {
      inside.push_back(file.name);
    }
  }
  if (!inside.empty()) {
    throw BadUse(name + " is a folder of scenarios: choose one of " + joined(inside));
  }
  throw BadUse("no scenario is called \"" + name + "\"" + did_you_mean(name, names) +
               " (`ringside list` shows all; a path must end in .toml)");
}

Settings load_scenario(const ScenarioFile& file) {
  Settings settings =
      parse_scenario(read_file(file.path, "a scenario", largest_file), shown(file.path));
  if (settings.name.empty()) {
    settings.name = file.name;
  }
  const auto folder = absolute_place(file.path).parent_path();
  for (std::string* path : {&settings.data.text, &settings.train.save, &settings.train.resume}) {
    if (!path->empty()) {
      *path = (folder / *path).lexically_normal().string();
    }
  }
  for (std::string* path : {&settings.parallel.schedule, &settings.model.config}) {
    if (path->ends_with(path == &settings.model.config ? ".json" : ".csv")) {
      *path = (folder / *path).lexically_normal().string();
    }
  }
  return settings;
}

std::string write_resolved(const Settings& settings) {
  std::string toml, section;
  for (const auto& key : setting_keys()) {
    if (key.section() != section) {
      section = key.section();
      toml += "\n[" + section + "]\n";
    }
    const auto last = section.empty() ? key.name : key.name.substr(section.size() + 1);
    toml += last + " = " + key.print(settings) + "\n";
  }
  return toml;
}

}  // namespace ringside
