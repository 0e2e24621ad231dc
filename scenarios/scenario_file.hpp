// Scenario files: where they lie, what is in them, and how settings are written back.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/settings.hpp"

namespace ringside {

struct ScenarioFile {
  std::string name;  // "dp/ring"
  std::filesystem::path path;
};

// The folder that holds the scenarios; none where the program was moved away from them.
std::optional<std::filesystem::path> scenarios_folder();

// All scenarios that come with the program, by name: those of the source tree it was built from, or
// of the tree around the program file where that is gone.
std::vector<ScenarioFile> list_scenarios();

// By name, or by path when it ends in .toml. Throws BadUse with the nearest name.
ScenarioFile find_scenario(const std::string& name);

// Throws BadUse "file:line:column: key = value: must be …" for a file that cannot be read, a syntax
// error, an unknown key or section (with the nearest), a value out of bounds or of a wrong type.
// data.text is taken from the file's folder and becomes absolute.
Settings load_scenario(const ScenarioFile& file);

// The same for a text; `shown` stands for the file in messages.
Settings parse_scenario(std::string_view toml, const std::string& shown);

// All keys with their values as TOML that loads back to equal settings.
std::string write_resolved(const Settings& settings);

}  // namespace ringside
