#include "runtime/files/json_file.hpp"

#include "runtime/errors.hpp"
#include "runtime/files/input_file.hpp"
#include "runtime/files/quoted.hpp"

namespace ringside {

using Json = nlohmann::json;

void require_bounded_json(std::string_view text, const std::string& where) {
  int depth = 0;
  std::size_t values = 1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i) {
        i += text[i] == '\\' ? 1U : 0U;
      }
    } else if (c == '[' || c == '{') {
      ++depth;
      ++values;
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == ',') {
      ++values;
    }
    if (depth > deepest_json || values > most_json_values) {
      throw BadUse(where + ": byte " + std::to_string(i) +
                   (depth > deepest_json
                        ? " is more than " + std::to_string(deepest_json) + " levels deep"
                        : " is past the first " + std::to_string(most_json_values) + " values") +
                   ", which no such document is");
    }
  }
}

nlohmann::json parse_json(std::string_view text, const std::string& where) {
  require_bounded_json(text, where);
  try {
    return Json::parse(text);
  } catch (const Json::exception& error) {
    throw BadUse(where + ": is no JSON: " + escaped(shortened(error.what())));
  }
}

nlohmann::json read_json(const std::filesystem::path& path, std::string_view what,
                         std::uintmax_t most) {
  return parse_json(read_file(path, what, most), path.string());
}

std::string quoted_json(const nlohmann::json& value) {
  return escaped(shortened(value.dump(-1, ' ', false, Json::error_handler_t::replace)));
}

}  // namespace ringside
