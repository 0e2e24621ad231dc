// What is written stands beside its place until it is whole: "model.json.123.tmp", with the number
// of the process that writes it. What a killed process left is found by that name.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace ringside {

// "PLACE.<this process>.tmp" for the ending ".tmp".
std::filesystem::path beside(const std::filesystem::path& place, std::string_view ending);

// Of "model.json.123.tmp" "model.json"; empty for a name that beside() does not make.
std::string_view place_of_leftover(std::string_view name, std::string_view ending);

// Entries of `folder` with that ending whose writers are gone: their process has ended, and nobody
// holds their lock. In the order of their names; nothing where the folder cannot be read.
std::vector<std::filesystem::path> leftovers_in(const std::filesystem::path& folder,
                                                std::string_view ending);

// Removes what was left beside `place` with ".tmp"; what cannot be removed stays.
void remove_leftovers_of(const std::filesystem::path& place);

// Removes all with that ending in `folder` whose places have names that begin with `prefix`.
void remove_leftovers(const std::filesystem::path& folder, std::string_view prefix,
                      std::string_view ending);

}  // namespace ringside
