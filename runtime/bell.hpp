// A bell in shared memory: the one thing that a rank parks on. Everything that can end a wait
// (a message, an acknowledgement, an abort) rings it.
//
// Protocol: the sleeper reads `rings`, looks, says that it sleeps, looks again, parks while `rings`
// is unchanged. The waker publishes, adds one to `rings`, and wakes if somebody sleeps.
// std::atomic::wait does not work across processes, hence the futex (futex_bell.cpp); where there
// is none, semaphore_bell.hpp has the same interface on Boost.Interprocess.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace ringside {

class FutexBell {
 public:
  std::uint32_t rings() const { return rings_.load(std::memory_order_seq_cst); }

  void ring();
  // Sleeps while no ring has come since `seen`, at most `limit`; may return early.
  void park(std::uint32_t seen, std::chrono::nanoseconds limit);

  // Says that the owner is about to park, so that a ring will wake it. Look again after this.
  void will_sleep() { sleeping_.store(1, std::memory_order_seq_cst); }

  void awake() { sleeping_.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint32_t> rings_{0};
  std::atomic<std::uint32_t> sleeping_{0};
};

using Bell = FutexBell;

}  // namespace ringside
