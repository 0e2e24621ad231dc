// The futex behind FutexBell: Linux only, and the only place that calls it.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

#include "runtime/bell.hpp"

namespace ringside {

namespace {

// Shared, not private: the sleeper may be another process.
void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* limit) {
  syscall(SYS_futex, &word, operation, value, limit, nullptr, 0);
}

}  // namespace

void FutexBell::ring() {
  rings_.fetch_add(1, std::memory_order_seq_cst);
  if (sleeping_.load(std::memory_order_seq_cst) != 0) {
    futex(rings_, FUTEX_WAKE, 1, nullptr);
  }
}

void FutexBell::park(std::uint32_t seen, std::chrono::nanoseconds limit) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
  const timespec time{.tv_sec = seconds.count(), .tv_nsec = (limit - seconds).count()};
  futex(rings_, FUTEX_WAIT, seen, &time);
}

}  // namespace ringside
