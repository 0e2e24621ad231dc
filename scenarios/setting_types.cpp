#include "scenarios/setting_types.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "runtime/errors.hpp"
#include "runtime/json_text.hpp"
#include "scenarios/near_miss.hpp"

namespace ringside {
namespace {

using Kind = SettingValue::Kind;

[[noreturn]] void refuse(const std::string& accepted) {
  throw BadUse("must be " + accepted);
}

bool is(const SettingValue& value, Kind kind) {
  return value.kind == kind || value.kind == Kind::word;
}

// The whole text as a number; none where it is something else or does not fit. Knows no locale.
template <class T>
std::optional<T> parsed(const std::string& text) {
  const char* first = text.data() + (text.starts_with("+") ? 1 : 0);
  const char* last = text.data() + text.size();
  T result{};
  const auto [end, error] = std::from_chars(first, last, result);
  return error == std::errc() && end == last && first != last ? std::optional(result)
                                                              : std::nullopt;
}

std::string interval_text(Interval bounds) {
  return fmt::format("number {} {}, {} {}", bounds.low_open ? "above" : "from", bounds.low,
                     bounds.high_open ? "below" : "up to", bounds.high);
}

// "[a, b]", "a,b" or "\"a\", \"b\"" from the command line.
std::vector<std::string> words_of(std::string text) {
  std::erase_if(text, [](char c) { return c == '[' || c == ']' || c == '"' || c == ' '; });
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find(',', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

const std::string& known(const std::string& name, const std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    refuse("one of " + joined(names) + did_you_mean(name, names));
  }
  return name;
}

// "one of \"\", oom": the empty name is shown as such.
std::string shown(std::vector<std::string> names) {
  std::replace(names.begin(), names.end(), std::string(), std::string("\"\""));
  return joined(names);
}

}  // namespace

std::string toml_quoted(const std::string& text) {
  // JSON's escapes are TOML's; JSON leaves DEL as it is, which TOML does not allow.
  std::string quoted;
  for (const char c : json_quoted(text)) {
    quoted += c == '\x7f' ? std::string("\\u007F") : std::string(1, c);
  }
  return quoted;
}

std::int64_t read_integer(const SettingValue& value, std::int64_t low, std::int64_t high) {
  const auto read = is(value, Kind::integer) ? parsed<std::int64_t>(value.text) : std::nullopt;
  if (!read || *read < low || *read > high) {
    refuse(fmt::format("an integer from {} to {}", low, high));
  }
  return *read;
}

SettingType<std::int64_t> integer64(std::int64_t low, std::int64_t high) {
  return {fmt::format("integer, {} to {}", low, high),
          [=](const SettingValue& value) { return read_integer(value, low, high); },
          [](const std::int64_t& value) { return std::to_string(value); }};
}

SettingType<int> integer(int low, int high) {
  return {
      low == high ? std::to_string(low) : fmt::format("integer, {} to {}", low, high),
      [=](const SettingValue& value) { return static_cast<int>(read_integer(value, low, high)); },
      [](const int& value) { return std::to_string(value); }};
}

SettingType<double> number(Interval bounds) {
  const auto accepted = interval_text(bounds);
  return {accepted,
          [=](const SettingValue& value) {
            const bool numeric = is(value, Kind::number) || value.kind == Kind::integer;
            const auto read = numeric ? parsed<double>(value.text) : std::nullopt;
            // Written so that NaN is refused.
            const bool inside = read &&
                                (bounds.low_open ? *read > bounds.low : *read >= bounds.low) &&
                                (bounds.high_open ? *read < bounds.high : *read <= bounds.high);
            if (!inside) {
              refuse("a " + accepted);
            }
            return *read;
          },
          [](const double& value) {
            // The shortest text that reads back equal; TOML wants a point or an exponent.
            const auto shortest = fmt::format("{}", value);
            return shortest.find_first_of(".e") == std::string::npos ? shortest + ".0" : shortest;
          }};
}

SettingType<bool> boolean() {
  return {"true or false",
          [](const SettingValue& value) {
            if (!is(value, Kind::boolean) || (value.text != "true" && value.text != "false")) {
              refuse("true or false");
            }
            return value.text == "true";
          },
          [](const bool& value) { return std::string(value ? "true" : "false"); }};
}

SettingType<std::string> text() {
  return {"text",
          [](const SettingValue& value) {
            if (!is(value, Kind::string)) {
              refuse("text in quotes");
            }
            if (value.text.find('\0') != std::string::npos) {
              refuse("text without a zero byte");
            }
            return value.text;
          },
          toml_quoted};
}

SettingType<std::string> one_of(std::vector<std::string> names) {
  return {"one of " + shown(names),
          [=](const SettingValue& value) {
            if (!is(value, Kind::string)) {
              refuse("one of " + shown(names) + ", in quotes");
            }
            return known(value.text, names);
          },
          toml_quoted};
}

SettingType<std::string> one_of_or(std::vector<std::string> names, Interval bounds) {
  const auto numbers = number(bounds);
  const auto is_name = [=](const std::string& text) {
    return std::find(names.begin(), names.end(), text) != names.end();
  };
  const std::string accepted = shown(names) + ", or a " + numbers.text;
  return {"one of " + accepted,
          [=](const SettingValue& value) {
            if (is(value, Kind::string) && is_name(value.text)) {
              return value.text;
            }
            try {
              return numbers.print(numbers.read(value));
            } catch (const BadUse&) {
              refuse("one of " + accepted);
            }
          },
          [=](const std::string& text) { return is_name(text) ? toml_quoted(text) : text; }};
}

SettingType<std::vector<std::string>> list_of(std::vector<std::string> names) {
  return {"list out of " + joined(names),
          [=](const SettingValue& value) {
            const bool listed = value.kind == Kind::list;
            if (!listed && value.kind != Kind::word) {
              refuse("a list of names in quotes, out of " + joined(names));
            }
            const auto items = listed ? value.items : words_of(value.text);
            for (const auto& item : items) {
              known(item, names);
            }
            return items;
          },
          [](const std::vector<std::string>& items) {
            std::vector<std::string> quoted;
            std::transform(items.begin(), items.end(), std::back_inserter(quoted), toml_quoted);
            return "[" + joined(quoted) + "]";
          }};
}

}  // namespace ringside
