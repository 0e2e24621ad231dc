// The lines of a file that may be longer than memory.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "runtime/files/input_file.hpp"

namespace ringside {

class Lines {
 public:
  // Throws BadUse with the line's number when one has more than `longest` bytes.
  Lines(InputFile& file, std::size_t longest) : file_(file), longest_(longest) {}

  // The next line, without its end, in `line`, which holds until the next call. False: that was
  // all. Throws BadUse when the file cannot be read.
  bool next(std::string_view& line);

  // Of the line that next() gave, from 1.
  std::size_t number() const { return number_; }

  // Whether no end of line follows it: it may be cut.
  bool unfinished() const { return unfinished_; }

 private:
  bool fill();

  InputFile& file_;
  std::size_t longest_;
  std::string pending_;    // read from the file
  std::size_t begin_ = 0;  // of what is not yet given
  std::size_t number_ = 0;
  bool at_end_ = false;
  bool unfinished_ = false;
};

}  // namespace ringside
