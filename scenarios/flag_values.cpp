#include "scenarios/flag_values.hpp"

#include "runtime/errors.hpp"

namespace ringside {
namespace {

template <class T>
T read(const std::string& flag, const std::string& text, const SettingType<T>& type) {
  try {
    return type.read({.kind = SettingValue::Kind::word, .text = text, .items = {}});
  } catch (const BadUse& refusal) {
    throw BadUse(flag + " " + text + ": " + refusal.what());
  }
}

}  // namespace

int integer_of(const std::string& flag, const std::string& text, int low, int high) {
  return read(flag, text, integer(low, high));
}

double number_of(const std::string& flag, const std::string& text, Interval bounds) {
  return read(flag, text, number(bounds));
}

std::size_t bytes_of(const std::string& flag, const std::string& text) {
  return static_cast<std::size_t>(read(flag, text, bytes(Bytes{0}, Bytes{1LL << 40})).count);
}

std::string choice_of(const std::string& flag, const std::string& text,
                      const std::vector<std::string>& names) {
  return read(flag, text, one_of(names));
}

std::chrono::nanoseconds timeout_of(const std::string& text) {
  const double seconds = number_of("--timeout", text, {.low = 0.001, .high = 1e6});
  return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
}

std::filesystem::path folder_of(const std::string& flag, const std::string& text) {
  std::error_code failed;
  const std::filesystem::path path(text);
  if (text.empty() ||
      (std::filesystem::exists(path, failed) && !std::filesystem::is_directory(path, failed))) {
    throw BadUse(flag + " " + text + ": must be a folder, or a name for a new one");
  }
  return path;
}

}  // namespace ringside
