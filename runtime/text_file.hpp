// A text file being written: in large pieces, with its errors named. A new one is readable by its
// owner alone; one that was there, or a device, keeps its permissions.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace ringside {

class TextFile {
 public:
  // Throws BadUse when the file cannot be made, as write and close do when the disk is full.
  explicit TextFile(std::filesystem::path path);

  void write(std::string_view text);
  // Everything is on disk, or it throws. A file that is not closed may be cut.
  void close();

 private:
  void flush();
  [[noreturn]] void fail() const;

  std::filesystem::path path_;
  std::ofstream file_;
  std::string pending_;
};

}  // namespace ringside
