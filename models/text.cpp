#include "models/text.hpp"

#include "runtime/errors.hpp"
#include "runtime/files/input_file.hpp"

namespace ringside {

std::string read_text(const std::string& path) {
  std::string text = read_file(path, "a text", most_text_bytes);
  if (text.empty()) {
    throw BadUse(path + ": it is empty: give a text of at least one byte");
  }
  return text;
}

}  // namespace ringside
