// The text that models learn from: bytes, whatever their meaning.
#pragma once

#include <cstdint>
#include <string>

namespace ringside {

// A text of our own in Chinese and English, UTF-8.
const std::string& builtin_text();

inline constexpr std::uintmax_t most_text_bytes = std::uintmax_t{128} << 20;

// The bytes of a regular file. Throws BadUse with the path and the reason when it cannot be read,
// is anything else, is empty or has more than most_text_bytes.
std::string read_text(const std::string& path);

}  // namespace ringside
