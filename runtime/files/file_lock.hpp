// A folder that one process holds at a time; let go of when the process ends, however it ends.
#pragma once

#include <filesystem>
#include <optional>

namespace ringside {

class FileLock {
 public:
  // None while another process holds the folder. Throws std::system_error when it cannot be opened.
  static std::optional<FileLock> take(const std::filesystem::path& path);

  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace ringside
