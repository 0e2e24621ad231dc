// JSON that a user can hand in: bounded in bytes, depth and number of values, so that no document
// costs more than it can mean, and none ends the program that refuses it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace ringside {

inline constexpr int deepest_json = 64;
inline constexpr std::size_t most_json_values = 4'000'000;

// Throws BadUse "where: …" for what is no JSON, is deeper, has more values, or a number that no
// double holds.
nlohmann::json parse_json(std::string_view text, const std::string& where);

// Throws BadUse "where: …" as parse_json does for depth and values; for other ways of parsing.
void require_bounded_json(std::string_view text, const std::string& where);

// Of a file of at most `most` bytes; `what` it is, for messages: "a config.json".
nlohmann::json read_json(const std::filesystem::path& path, std::string_view what,
                         std::uintmax_t most);

// A value as a message repeats it: escaped, and cut when it is long.
std::string quoted_json(const nlohmann::json& value);

}  // namespace ringside
