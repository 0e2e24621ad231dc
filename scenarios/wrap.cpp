#include "scenarios/wrap.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace ringside {
namespace {

constexpr std::size_t least = 20;  // columns for the text

// The first character of UTF-8 text.
std::string_view first_of(std::string_view text) {
  std::size_t bytes = 1;
  while (bytes < text.size() && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80) {
    ++bytes;
  }
  return text.substr(0, bytes);
}

// Characters of three bytes and more from U+2E80 on are wide: CJK, its punctuation, full forms.
bool is_wide(std::string_view character) {
  return character.size() >= 3 && character >= "\xe2\xba\x80";
}

bool closes(std::string_view character) {
  constexpr std::array<std::string_view, 6> marks{"，", "。", "；", "：", "、", "）"};
  return std::find(marks.begin(), marks.end(), character) != marks.end();
}

// Parts between which a line may break; a space ends its part.
std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts;
  bool breaks = true;
  while (!text.empty()) {
    const auto c = first_of(text);
    text.remove_prefix(c.size());
    if (parts.empty() || ((breaks || is_wide(c)) && !closes(c))) {
      parts.emplace_back();
    }
    parts.back() += c;
    breaks = c == " " || is_wide(c);
  }
  return parts;
}

}  // namespace

std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const auto c = first_of(text);
    width += is_wide(c) ? 2U : 1U;
    text.remove_prefix(c.size());
  }
  return width;
}

std::string wrapped(std::string_view text, std::size_t indent, std::size_t columns) {
  if (columns < indent + least) {
    return std::string(text);
  }
  std::string lines;
  std::size_t at = indent;
  for (const auto& part : parts_of(text)) {
    const std::size_t width = width_of(part);
    const std::size_t seen = width - (part.back() == ' ' ? 1 : 0);
    if (at > indent && at + seen >= columns) {
      lines.erase(lines.find_last_not_of(' ') + 1);
      lines += "\n" + std::string(indent, ' ');
      at = indent;
    }
    lines += part;
    at += width;
  }
  return lines;
}

}  // namespace ringside
