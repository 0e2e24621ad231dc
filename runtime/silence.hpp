// Notices ranks of which nothing is heard: a hang is never an answer.
//
// A rank that computes is silent after twice the limit without any activity. One that waits has a
// limit of its own, and is silent only when that has not ended it after four times the limit: it is
// stopped, or its wait is broken. Time counts in small slices, so that a pause of the whole job,
// launcher included, is no silence.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/job.hpp"

namespace ringside {

class SilenceWatch {
 public:
  static constexpr std::chrono::milliseconds slice{100};

  SilenceWatch(SharedJob& job, std::chrono::nanoseconds limit);

  // Something came from this rank by another way.
  void heard_of(int rank) { ranks_[static_cast<std::size_t>(rank)].heard = true; }

  // To be called about once per slice for each rank that runs: why it counts as silent, or none.
  std::optional<std::string> look_at(int rank, std::chrono::nanoseconds since_last_look);

 private:
  struct Seen {
    std::uint64_t activity = 0;
    bool heard = true;
    std::chrono::nanoseconds idle{0};
    std::chrono::nanoseconds idle_without_wait{0};
  };

  SharedJob& job_;
  std::chrono::nanoseconds limit_;
  std::vector<Seen> ranks_;
};

}  // namespace ringside
