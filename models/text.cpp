#include "models/text.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "runtime/errors.hpp"

namespace ringside {

std::string read_text(const std::string& path) {
  const auto refuse = [&](const std::string& reason) {
    throw BadUse("cannot read the text \"" + path + "\": " + reason +
                 ". Give a file with at least one byte");
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    refuse("it is a folder");
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    refuse(std::strerror(errno));
  }
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) {
    refuse("reading failed");
  }
  if (text.empty()) {
    refuse("it is empty");
  }
  return text;
}

}  // namespace ringside
