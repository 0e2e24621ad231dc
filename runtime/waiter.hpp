// How a rank waits: spin while there are cores for all ranks, yield, then park on its own bell.
//
// Every wait has a limit, counted in time during which this rank could run: a pause of the whole
// job (a debugger, a suspended laptop) is no silence. An abort of the job ends every wait.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <stdexcept>

#include "runtime/job.hpp"

namespace ringside {

// The job was ended while this rank waited; the cause is another rank's.
struct JobAborted : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What a PeerLost says whose cause is the limit of a wait.
inline constexpr const char* past_the_limit = "past the limit";

class Waiter {
 public:
  Waiter(SharedJob& job, int rank, std::chrono::nanoseconds limit);

  // Returns when done() holds. `what` is published from the first parking on. Throws PeerLost past
  // the limit, or when lost_peer() names one; JobAborted when the job was ended.
  template <class Done>
  void until(Done&& done, const WaitRecord& what) {
    for (int turn = 0; !done(); ++turn) {
      next_turn(turn, what, std::ref(done));  // a reference: nothing is allocated
    }
    if (published_) {
      forget();
    }
  }

  // Called before each parking.
  std::function<void()> before_parking{};

  // A wire lost its connection to this rank; noticed by the next turn of any wait.
  std::atomic<int> lost_peer{-1};
  std::atomic<const char*> lost_reason{nullptr};  // set before it; lives as long as the wire

 private:
  void next_turn(int turn, const WaitRecord& what, const std::function<bool()>& done);
  void park(const WaitRecord& what, const std::function<bool()>& done);
  void forget();

  SharedJob& job_;
  RankState& me_;
  int rank_;
  std::chrono::nanoseconds limit_;
  int spins_;
  int yields_;
  bool published_ = false;  // what it waits for; stays until the wait is over, or for the report
  std::chrono::nanoseconds waited_{0};
  std::chrono::steady_clock::time_point began_{};  // of this wait
};

}  // namespace ringside
