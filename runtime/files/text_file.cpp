#include "runtime/files/text_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "runtime/errors.hpp"
#include "runtime/files/leftovers.hpp"

namespace ringside {

namespace fs = std::filesystem;

TextFile::TextFile(fs::path path) : path_(std::move(path)), place_(path_) {
  std::error_code unknown;
  if (fs::is_symlink(path_, unknown)) {
    if (const auto led = fs::weakly_canonical(path_, unknown); !unknown) {
      place_ = led;
    }
  }

  struct stat about {};

  const bool there = stat(place_.c_str(), &about) == 0;
  if (there && !S_ISREG(about.st_mode)) {
    descriptor_ = open(place_.c_str(), O_WRONLY | O_CLOEXEC);
  } else if (there && access(place_.c_str(), W_OK) != 0) {
    fail(errno);
  } else {
    open_beside();
  }
  if (descriptor_ < 0 ||
      (there && !unfinished_.empty() && fchmod(descriptor_, about.st_mode & 07777) != 0)) {
    fail(errno);
  }
}

void TextFile::open_beside() {
  remove_leftovers_of(place_);
  unfinished_ = beside(place_, ".tmp");
  descriptor_ = open(unfinished_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
                     S_IRUSR | S_IWUSR);
  if (descriptor_ < 0) {
    unfinished_.clear();
    return;
  }
  try {
    if (auto taken = FileLock::take(unfinished_)) {
      lock_.emplace(std::move(*taken));
    }
  } catch (const std::system_error& error) {
    fail(error.code().value());
  }
}

TextFile::~TextFile() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
  if (!unfinished_.empty()) {
    unlink(unfinished_.c_str());
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
  if (!unfinished_.empty() && fsync(descriptor_) != 0) {
    fail(errno);
  }
  if (::close(std::exchange(descriptor_, -1)) != 0) {
    fail(errno);
  }
  if (!unfinished_.empty()) {
    if (rename(unfinished_.c_str(), place_.c_str()) != 0) {
      fail(errno);
    }
    unfinished_.clear();
  }
}

void TextFile::flush() {
  for (std::string_view rest = pending_; !rest.empty();) {
    const auto written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno != EINTR) {
      fail(errno);
    }
    rest.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
  }
  pending_.clear();
}

// Also out of the constructor, after which no destructor runs.
void TextFile::fail(int error) {
  if (descriptor_ >= 0) {
    ::close(std::exchange(descriptor_, -1));
  }
  if (!unfinished_.empty()) {
    unlink(unfinished_.c_str());
    unfinished_.clear();
  }
  throw BadUse("cannot write " + path_.string() + ": " + std::strerror(error));
}

}  // namespace ringside
