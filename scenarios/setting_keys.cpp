#include "scenarios/setting_keys.hpp"

#include <algorithm>

#include "runtime/errors.hpp"
#include "scenarios/near_miss.hpp"

namespace ringside {
namespace {

std::vector<std::string> names_under(const std::string& section) {
  std::vector<std::string> names;
  for (const auto& row : setting_keys()) {
    if (section.empty() || row.name.starts_with(section + ".")) {
      names.push_back(row.name);
    }
  }
  return names;
}

}  // namespace

std::string SettingKey::section() const {
  const auto cut = name.rfind('.');
  return cut == std::string::npos ? std::string() : name.substr(0, cut);
}

const SettingKey* find_key(std::string_view name) {
  const auto keys = setting_keys();
  const auto at =
      std::find_if(keys.begin(), keys.end(), [&](const auto& row) { return row.name == name; });
  return at == keys.end() ? nullptr : &*at;
}

std::vector<std::string> setting_sections() {
  std::vector<std::string> sections;
  for (const auto& row : setting_keys()) {
    for (auto dot = row.name.find('.'); dot != std::string::npos;
         dot = row.name.find('.', dot + 1)) {
      const auto section = row.name.substr(0, dot);
      if (std::find(sections.begin(), sections.end(), section) == sections.end()) {
        sections.push_back(section);
      }
    }
  }
  return sections;
}

void set_key(Settings& settings, const SettingKey& key, const SettingValue& value,
             const std::string& where) {
  try {
    key.set(settings, value);
  } catch (const BadUse& refusal) {
    throw BadUse(where + ": " + refusal.what());
  }
}

std::string unknown_key(std::string_view name) {
  const auto all = names_under("");
  const auto guess = did_you_mean(name, all);
  if (!guess.empty()) {
    return "no such key" + guess;
  }
  const auto near = names_under(std::string(name.substr(0, name.rfind('.'))));
  return near.empty() ? "no such key; the sections are " + joined(setting_sections())
                      : "no such key; there are " + joined(near);
}

}  // namespace ringside
