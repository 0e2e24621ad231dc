// How rows of the table of settings are written.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "scenarios/setting_keys.hpp"
#include "scenarios/setting_types.hpp"

namespace ringside {

using Rows = std::vector<SettingKey>;

inline constexpr int most_ranks = 65536;
inline constexpr Bytes tebibyte{1LL << 40};

// A row; `path` leads to the member: &Settings::train, &TrainSettings::steps.
template <class T, class... Path>
SettingKey key(std::string name, std::string meaning, SettingType<T> type, Path... path) {
  return {std::move(name), type.text, std::move(meaning),
          [=](Settings& settings, const SettingValue& value) {
            (settings.*....*path) = type.read(value);
          },
          [=](const Settings& settings) { return type.print((settings.*....*path)); }};
}

// Of parallel.*, dp.* and costs.*: setting_table_parallel.cpp.
Rows parallel_rows();
Rows cost_rows();

}  // namespace ringside
