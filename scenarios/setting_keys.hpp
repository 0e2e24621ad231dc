// The table of all settings: a row per key. Whatever reads, prints, lists or explains settings uses
// this table and nothing else; docs/formats.md shows it, and a test keeps it so.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/setting_value.hpp"
#include "scenarios/settings.hpp"

namespace ringside {

struct SettingKey {
  std::string name;     // "links.nvlink.bandwidth"
  std::string type;     // "integer, 1 to 65536"
  std::string meaning;  // one line
  // Throws BadUse that says what is accepted.
  std::function<void(Settings&, const SettingValue&)> set;
  // The value as TOML; reads back equal.
  std::function<std::string(const Settings&)> print;

  // "links.nvlink"; empty for a key outside all sections.
  std::string section() const;

  // What holds when nobody sets it, as TOML.
  std::string fallback() const { return print(Settings{}); }
};

std::span<const SettingKey> setting_keys();

// None: no such key.
const SettingKey* find_key(std::string_view name);

// "links", "links.nvlink" and so on: every name that a key lies under.
std::vector<std::string> setting_sections();

// Sets one key. `where` introduces the message of a refusal: "--set train.steps=0",
// "x.toml:3:9: train.steps = 0". Throws BadUse "where: must be …".
void set_key(Settings& settings, const SettingKey& key, const SettingValue& value,
             const std::string& where);

// "no such key train.step; did you mean train.steps?", or with the keys of its section.
std::string unknown_key(std::string_view name);

}  // namespace ringside
