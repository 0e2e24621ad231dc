// Values of flags that are no keys. A refusal names the flag, what was given and what would be
// right:
// "--pace fast: must be a number, at least 0, …".
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "scenarios/setting_types.hpp"

namespace ringside {

int integer_of(const std::string& flag, const std::string& text, int low, int high);
double number_of(const std::string& flag, const std::string& text, Interval bounds);
std::size_t bytes_of(const std::string& flag, const std::string& text);
std::string choice_of(const std::string& flag, const std::string& text,
                      const std::vector<std::string>& names);

// Seconds, at least 0.001.
std::chrono::nanoseconds timeout_of(const std::string& text);

// A folder to be made, or that is there already.
std::filesystem::path folder_of(const std::string& flag, const std::string& text);

}  // namespace ringside
