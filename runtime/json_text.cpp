#include "runtime/json_text.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/files/quoted.hpp"

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
  return json_for_terminal(std::string_view(quoted).substr(1, quoted.size() - 2));
}

std::string json_for_terminal(std::string_view dumped) {
  std::string text;
  text.reserve(dumped.size());
  while (!dumped.empty()) {
    const std::size_t length = std::max(character_length(dumped), std::size_t{1});
    const std::string_view character = dumped.substr(0, length);
    const bool unseen =
        character == "\x7f" || (length > 1 && is_unseen_mark(code_point(character)));
    text += unseen ? fmt::format("\\u{:04x}", static_cast<unsigned>(code_point(character)))
                   : std::string(character);
    dumped.remove_prefix(length);
  }
  return text;
}

std::string json_quoted(std::string_view text) {
  return '"' + json_escaped(text) + '"';
}

}  // namespace ringside
