// Reads the TOML of a scenario by the table of settings.

#include <spdlog/fmt/fmt.h>
#include <toml++/toml.h>

#include <algorithm>

#include "runtime/errors.hpp"
#include "runtime/files/quoted.hpp"
#include "scenarios/near_miss.hpp"
#include "scenarios/scenario_file.hpp"
#include "scenarios/setting_keys.hpp"
#include "scenarios/setting_types.hpp"

namespace ringside {
namespace {

using Kind = SettingValue::Kind;

std::string position(const std::string& file, const toml::source_region& source) {
  return fmt::format("{}:{}:{}", file, source.begin.line, source.begin.column);
}

SettingValue list_value(const toml::array& array) {
  SettingValue value{.kind = Kind::list, .text = {}, .items = {}};
  for (const auto& item : array) {
    if (!item.is_string()) {
      value.kind = Kind::other;
    }
    value.items.push_back(item.value_or(std::string()));
  }
  value.text = "[" + joined(value.items) + "]";
  return value;
}

SettingValue value_of(const toml::node& node) {
  if (const auto* flag = node.as_boolean()) {
    return {.kind = Kind::boolean, .text = flag->get() ? "true" : "false", .items = {}};
  }
  if (const auto* whole = node.as_integer()) {
    return {.kind = Kind::integer, .text = std::to_string(whole->get()), .items = {}};
  }
  if (const auto* real = node.as_floating_point()) {
    return {.kind = Kind::number, .text = fmt::format("{}", real->get()), .items = {}};
  }
  if (const auto* text = node.as_string()) {
    return {.kind = Kind::string, .text = text->get(), .items = {}};
  }
  if (const auto* array = node.as_array()) {
    return list_value(*array);
  }
  return {.kind = Kind::other, .text = node.is_table() ? "(a section)" : "(a date)", .items = {}};
}

std::string shown_value(const SettingValue& value) {
  return value.kind == Kind::string ? toml_quoted(shortened(value.text)) : shortened(value.text);
}

bool is_section(const std::string& name) {
  const auto sections = setting_sections();
  return std::find(sections.begin(), sections.end(), name) != sections.end();
}

// What is wrong with a name that is neither key nor section.
std::string unknown_name(const std::string& name, const toml::node& node) {
  if (!node.is_table()) {
    return unknown_key(name);
  }
  const auto sections = setting_sections();
  const auto guess = did_you_mean(name, sections);
  return "no such section" + (guess.empty() ? "; there are " + joined(sections) : guess);
}

// Reads everything in `table`, whose own name is `section` (empty for the file itself).
void read_table(Settings& settings, const toml::table& table, const std::string& section,
                const std::string& file) {
  for (const auto& [key, node] : table) {
    const auto name =
        section.empty() ? std::string(key.str()) : section + "." + std::string(key.str());
    const auto where = position(file, key.source());
    if (const auto* row = find_key(name)) {
      const auto value = value_of(node);
      set_key(settings, *row, value, fmt::format("{}: {} = {}", where, name, shown_value(value)));
    } else if (!is_section(name)) {
      throw BadUse(fmt::format("{}: {}: {}", where, escaped(shortened(name)),
                               unknown_name(shortened(name), node)));
    } else if (const auto* inner = node.as_table()) {
      read_table(settings, *inner, name, file);
    } else {
      throw BadUse(
          fmt::format("{}: {} = {}: is a section, not a key: write [{}] and its keys below", where,
                      name, shown_value(value_of(node)), name));
    }
  }
}

// Line `number` of the text, counted from 1, without the spaces around it.
std::string_view line_of(std::string_view text, std::size_t number) {
  for (std::size_t line = 1; line < number && !text.empty(); ++line) {
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  }
  text = text.substr(0, text.find('\n'));
  const auto first = std::min(text.find_first_not_of(" \t"), text.size());
  return text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

}  // namespace

// The parser goes as deep as a dotted key has parts; no line that a person writes is so long.
void check_line_lengths(std::string_view toml, const std::string& shown) {
  constexpr std::size_t longest = 10'000;
  std::size_t number = 1;
  for (std::size_t first = 0; first < toml.size(); ++number) {
    const std::size_t end = std::min(toml.find('\n', first), toml.size());
    if (end - first > longest) {
      throw BadUse(fmt::format("{}:{}: a line of {} bytes; at most {} are read", shown, number,
                               end - first, longest));
    }
    first = end + 1;
  }
}

Settings parse_scenario(std::string_view toml, const std::string& shown) {
  check_line_lengths(toml, shown);
  Settings settings;
  try {
    read_table(settings, toml::parse(toml), "", shown);
  } catch (const toml::parse_error& error) {
    throw BadUse(fmt::format("{}: `{}` is not TOML: {}", position(shown, error.source()),
                             escaped(shortened(line_of(toml, error.source().begin.line))),
                             error.description()));
  }
  return settings;
}

}  // namespace ringside
