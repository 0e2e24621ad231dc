// A file that a user can name, being read. It is a regular one, it has a size that such a file can
// have, and a read that fails is told from its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace ringside {

class InputFile {
 public:
  // `what` it must be, for messages: "a scenario". Throws BadUse, with path and reason, for what
  // cannot be opened and for a folder, a FIFO, a socket or a device, without waiting for any.
  InputFile(std::filesystem::path path, std::string_view what);
  ~InputFile();

  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::filesystem::path& path() const { return path_; }

  // As the system says; files of /proc say 0.
  std::uintmax_t size() const { return size_; }

  // Throws BadUse, with both numbers, for a larger one.
  void require_at_most(std::uintmax_t bytes) const;

  // Fills `into` but for the last time; less, or nothing: that was the end. Throws BadUse when the
  // system cannot read on.
  std::size_t read(std::span<char> into);

  // "PATH: why".
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  std::filesystem::path path_;
  std::string what_;
  int descriptor_ = -1;
  std::uintmax_t size_ = 0;
};

// All of a file. Throws BadUse, as InputFile does, and when it has more than `most` bytes.
std::string read_file(const std::filesystem::path& path, std::string_view what,
                      std::uintmax_t most);

}  // namespace ringside
