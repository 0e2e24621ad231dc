// The text that models learn from: bytes, whatever their meaning.
#pragma once

#include <string>

namespace ringside {

// A text of our own in Chinese and English, UTF-8.
const std::string& builtin_text();

// The bytes of a file, or of a pipe to its end. Throws BadUse with the path and the reason when it
// cannot be read, is a folder or a device, or is empty.
std::string read_text(const std::string& path);

}  // namespace ringside
