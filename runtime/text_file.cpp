#include "runtime/text_file.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/errors.hpp"

namespace ringside {

TextFile::TextFile(std::filesystem::path path) : path_(std::move(path)) {
  std::error_code unknown;
  const bool made_here = !std::filesystem::exists(path_, unknown);
  file_.open(path_, std::ios::binary | std::ios::trunc);
  if (!file_) {
    fail();
  }
  if (made_here) {
    using std::filesystem::perms;
    std::filesystem::permissions(path_, perms::owner_read | perms::owner_write, unknown);
  }
}

void TextFile::write(std::string_view text) {
  constexpr std::size_t piece = 1UL << 20;
  pending_ += text;
  if (pending_.size() >= piece) {
    flush();
  }
}

void TextFile::close() {
  flush();
  file_.close();
  if (!file_) {
    fail();
  }
}

void TextFile::flush() {
  if (!file_.write(pending_.data(), static_cast<std::streamsize>(pending_.size()))) {
    fail();
  }
  pending_.clear();
}

void TextFile::fail() const {
  throw BadUse("cannot write " + path_.string() + ": " + std::strerror(errno));
}

}  // namespace ringside
