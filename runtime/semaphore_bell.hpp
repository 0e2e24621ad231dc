// The bell of bell.hpp for systems without a futex, on Boost.Interprocess.
#pragma once

#include <atomic>
#include <boost/interprocess/sync/interprocess_semaphore.hpp>
#include <chrono>
#include <cstdint>

namespace ringside {

class SemaphoreBell {
 public:
  std::uint32_t rings() const { return rings_.load(std::memory_order_seq_cst); }

  void ring();
  void park(std::uint32_t seen, std::chrono::nanoseconds limit);

  void will_sleep() { sleeping_.store(1, std::memory_order_seq_cst); }

  void awake() { sleeping_.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint32_t> rings_{0};
  std::atomic<std::uint32_t> sleeping_{0};
  boost::interprocess::interprocess_semaphore posted_{0};
};

}  // namespace ringside
