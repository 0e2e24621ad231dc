#include "runtime/files/lines.hpp"

#include <span>

namespace ringside {

bool Lines::next(std::string_view& line) {
  std::size_t searched = begin_;
  for (;;) {
    const std::size_t end = pending_.find('\n', searched);
    if (end != std::string::npos) {
      line = std::string_view(pending_).substr(begin_, end - begin_);
      begin_ = end + 1;
      break;
    }
    searched = pending_.size() - begin_;
    if (!fill()) {
      line = std::string_view(pending_).substr(begin_);
      begin_ = pending_.size();
      unfinished_ = true;
      break;
    }
  }
  if (unfinished_ && line.empty()) {
    return false;
  }
  ++number_;
  if (line.size() > longest_) {
    file_.refuse("line " + std::to_string(number_) + " has more than " + std::to_string(longest_) +
                 " bytes");
  }
  return true;
}

// Moves what is not yet given to the front, and reads on. False: there is no more, or what is there
// without an end of line is longer than a line may be.
bool Lines::fill() {
  constexpr std::size_t piece = std::size_t{1} << 16;
  pending_.erase(0, begin_);
  begin_ = 0;
  if (at_end_ || pending_.size() > longest_) {
    return false;
  }
  const std::size_t before = pending_.size();
  pending_.resize(before + piece);
  const std::size_t got = file_.read(std::span(pending_).subspan(before));
  pending_.resize(before + got);
  at_end_ = got < piece;
  return got > 0;
}

}  // namespace ringside
