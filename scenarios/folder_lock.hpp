// A folder that one process holds at a time; let go of when the process ends, however it ends.
#pragma once

#include <filesystem>
#include <optional>

namespace ringside {

class FolderLock {
 public:
  // None while another process holds the folder. Throws std::system_error when it cannot be opened.
  static std::optional<FolderLock> take(const std::filesystem::path& folder);

  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

 private:
  explicit FolderLock(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace ringside
