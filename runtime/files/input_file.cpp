#include "runtime/files/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/errors.hpp"

namespace ringside {

namespace {

const char* kind_of(mode_t mode) {
  return S_ISDIR(mode)                    ? "is a folder"
         : S_ISFIFO(mode)                 ? "is a FIFO"
         : S_ISSOCK(mode)                 ? "is a socket"
         : S_ISCHR(mode) || S_ISBLK(mode) ? "is a device"
                                          : "is of an unknown kind";
}

}  // namespace

InputFile::InputFile(std::filesystem::path path, std::string_view what)
    : path_(std::move(path)), what_(what) {
  // Without O_NONBLOCK the opening of a FIFO would wait for somebody who writes it.
  descriptor_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

  struct stat about {};

  if (descriptor_ < 0 || fstat(descriptor_, &about) != 0) {
    const int error = errno;
    refuse("cannot be read: " + std::string(std::strerror(error)) + ": give " + what_ +
           " that exists and that you may read");
  }
  if (!S_ISREG(about.st_mode)) {
    close(std::exchange(descriptor_, -1));
    refuse("cannot be read: it " + std::string(kind_of(about.st_mode)) + ": give " + what_ +
           ", which is a regular file");
  }
  size_ = static_cast<std::uintmax_t>(about.st_size);
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) {
    close(descriptor_);
  }
}

void InputFile::require_at_most(std::uintmax_t bytes) const {
  if (size_ > bytes) {
    refuse(std::to_string(size_) + " bytes are too many for " + what_ + " (at most " +
           std::to_string(bytes) + ")");
  }
}

std::size_t InputFile::read(std::span<char> into) {
  std::size_t filled = 0;
  while (filled < into.size()) {
    const auto got = ::read(descriptor_, into.data() + filled, into.size() - filled);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      refuse("reading failed after " + std::to_string(lseek(descriptor_, 0, SEEK_CUR)) +
             " bytes: " + std::strerror(errno) + ": what was read is not all");
    }
    if (got == 0) {
      break;
    }
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

void InputFile::refuse(const std::string& why) const {
  throw BadUse(path_.string() + ": " + why);
}

std::string read_file(const std::filesystem::path& path, std::string_view what,
                      std::uintmax_t most) {
  constexpr std::size_t piece = std::size_t{1} << 16;
  InputFile file(path, what);
  file.require_at_most(most);
  std::string text;
  // To its end, whatever size it had when it was opened: it may grow, and files of /proc say 0.
  for (std::size_t room = file.size() + 1;; room = piece) {
    const std::size_t before = text.size();
    text.resize(before + room);
    const std::size_t got = file.read(std::span(text).subspan(before));
    text.resize(before + got);
    if (text.size() > most) {
      file.refuse("has grown past the " + std::to_string(most) + " bytes that " +
                  std::string(what) + " may have");
    }
    if (got < room) {
      return text;
    }
  }
}

}  // namespace ringside
