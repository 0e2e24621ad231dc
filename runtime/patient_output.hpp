// Text for stderr from a launcher that must not wait for its reader while ranks work: what stderr
// does not take at once is kept, and written when it does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ringside {

// Whether a short text to `fd` would be taken at once.
bool takes_text(int fd);

class PatientOutput {
 public:
  // `most`: bytes that are kept; lines beyond it are left out, and their number is said.
  explicit PatientOutput(int fd = 2, std::size_t most = 64UL << 20) : fd_(fd), most_(most) {}

  void write(std::string_view lines);
  // Writes what can be written now.
  void pump();
  // Writes all that is kept, however long the reader takes.
  void finish();

  bool is_empty() const { return kept_.size() == begin_; }

 private:
  bool write_part();

  int fd_;
  std::size_t most_;
  std::string kept_{};
  std::size_t begin_ = 0;  // of what has not been written
  std::uint64_t left_out_ = 0;
};

}  // namespace ringside
