#include "runtime/semaphore_bell.hpp"

#include <boost/date_time/posix_time/posix_time_types.hpp>

namespace ringside {

void SemaphoreBell::ring() {
  rings_.fetch_add(1, std::memory_order_seq_cst);
  if (sleeping_.exchange(0, std::memory_order_seq_cst) != 0) {
    posted_.post();
  }
}

// A post that came after an early return only ends the next park early, which looks again.
void SemaphoreBell::park(std::uint32_t seen, std::chrono::nanoseconds limit) {
  if (rings() != seen) {
    return;
  }
  const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(limit).count();
  posted_.timed_wait(boost::posix_time::microsec_clock::universal_time() +
                     boost::posix_time::microseconds(microseconds));
}

}  // namespace ringside
