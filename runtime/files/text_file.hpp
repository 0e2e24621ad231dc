// A document being written: beside its place, and put there when all of it is on disk, so that
// whoever reads finds the old text or the new one, whatever happens meanwhile.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/files/file_lock.hpp"

namespace ringside {

class TextFile {
 public:
  // A new one is readable by its owner alone; one that was there keeps its permissions, and a link
  // stays one. A device or a pipe is written as it stands. Throws BadUse when it cannot be made, as
  // write and close do when the disk is full: what was there before then stays.
  explicit TextFile(std::filesystem::path path);
  ~TextFile();  // without close() nothing has been written

  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  void write(std::string_view text);
  // All of it is on disk and in its place, or it throws.
  void close();

 private:
  void open_beside();
  void flush();
  [[noreturn]] void fail(int error);

  std::filesystem::path path_;        // as it was named
  std::filesystem::path place_;       // where links lead
  std::filesystem::path unfinished_;  // empty: a device, or done
  std::optional<FileLock> lock_;      // says that this one is no leftover
  int descriptor_ = -1;
  std::string pending_;
};

}  // namespace ringside
