#include "models/text.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "runtime/errors.hpp"

namespace ringside {

namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& reason) {
  throw BadUse("cannot read the text \"" + path + "\": " + reason +
               ". Give a file with at least one byte");
}

// A file that has no end, or no bytes of its own.
void refuse_what_is_no_text(const std::string& path) {
  std::error_code missing;  // opening the file says so better
  const auto status = std::filesystem::status(path, missing);
  if (std::filesystem::is_directory(status)) {
    refuse(path, "it is a folder");
  }
  if (std::filesystem::is_character_file(status) || std::filesystem::is_block_file(status)) {
    refuse(path, "it is a device");
  }
}

}  // namespace

std::string read_text(const std::string& path) {
  refuse_what_is_no_text(path);
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    refuse(path, std::strerror(errno));
  }
  std::string text;
  std::array<char, 1 << 16> block{};
  while (file.read(block.data(), block.size()), file.gcount() > 0) {
    text.append(block.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad()) {
    refuse(path, "reading failed");
  }
  if (text.empty()) {
    refuse(path, "it is empty");
  }
  return text;
}

}  // namespace ringside
