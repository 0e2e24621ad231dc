#include "runtime/files/quoted.hpp"

#include <spdlog/fmt/fmt.h>

namespace ringside {

namespace {

unsigned char byte(char c) {
  return static_cast<unsigned char>(c);
}

bool continues(char c) {
  return (byte(c) & 0xC0U) == 0x80U;
}

}  // namespace

std::size_t character_length(std::string_view text) {
  if (text.empty()) {
    return 0;
  }
  const unsigned char first = byte(text.front());
  if (first < 0x80) {
    return 1;
  }
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) {
    return 0;
  }
  for (std::size_t i = 1; i < length; ++i) {
    if (!continues(text[i])) {
      return 0;
    }
  }
  const char32_t c = code_point(text.substr(0, length));
  const bool longer_than_needed = c < (length == 4 ? 0x10000U : length == 3 ? 0x800U : 0x80U);
  const bool none = c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF);
  return longer_than_needed || none ? 0 : length;
}

char32_t code_point(std::string_view character) {
  const std::size_t length = character.size();
  char32_t c = byte(character.front()) & (length == 1 ? 0x7FU : 0xFFU >> (length + 1));
  for (const char next : character.substr(1)) {
    c = c << 6U | (byte(next) & 0x3FU);
  }
  return c;
}

bool is_unseen_mark(char32_t c) {
  return (c >= 0x80 && c <= 0x9F) || c == 0x061C || (c >= 0x200B && c <= 0x200F) ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF;
}

std::string escaped(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const std::string_view character = text.substr(0, length);
    const unsigned char first = byte(text.front());
    const bool control = (first < 0x20 && first != '\n' && first != '\t') || first == 0x7F;
    if (length == 0 || control) {
      shown += fmt::format("\\x{:02x}", first);
    } else if (length > 1 && is_unseen_mark(code_point(character))) {
      shown += fmt::format("\\u{:04x}", static_cast<unsigned>(code_point(character)));
    } else {
      shown += character;
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return shown;
}

std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) {
    return std::string(text);
  }
  std::size_t end = most;
  while (end > 0 && continues(text[end])) {
    --end;
  }
  return fmt::format("{}… ({} bytes in all)", text.substr(0, end), text.size());
}

}  // namespace ringside
