#include "runtime/json_text.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace ringside {
namespace {

bool plain(char c) {
  return c >= ' ' && c <= '~' && c != '"' && c != '\\';
}

}  // namespace

std::string json_escaped(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), plain)) {
    return std::string(text);
  }
  const auto quoted =
      nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return quoted.substr(1, quoted.size() - 2);
}

std::string json_quoted(std::string_view text) {
  return '"' + json_escaped(text) + '"';
}

}  // namespace ringside
