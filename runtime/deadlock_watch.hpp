// Looks for ranks that are stuck, now and then, from the launcher's side.
#pragma once

#include <chrono>
#include <optional>

#include "runtime/job.hpp"
#include "runtime/launch.hpp"

namespace ringside {

class DeadlockWatch {
 public:
  explicit DeadlockWatch(SharedJob& job) : job_(job) {}

  // Between two looks: more with many ranks, so that looking costs next to nothing.
  std::chrono::milliseconds interval() const;

  // Looks, unless it has just done so: what the stuck ranks make of the job, or none.
  std::optional<JobFailure> look();

 private:
  SharedJob& job_;
  std::chrono::steady_clock::time_point next_{};
};

}  // namespace ringside
