#include "runtime/waiter.hpp"

#include <sched.h>

#include <algorithm>
#include <string>
#include <thread>
#include <utility>

#include "runtime/errors.hpp"

namespace ringside {

namespace {

constexpr std::chrono::milliseconds longest_yielding(5);  // on a crowded machine a yield is long
constexpr std::chrono::milliseconds slice(200);           // between two looks at limits
constexpr int turns_a_look = 8;
constexpr int many_ranks = 64;  // beyond it long yielding only feeds the scheduler

}  // namespace

Waiter::Waiter(SharedJob& job, int rank, std::chrono::nanoseconds limit)
    : job_(job),
      me_(job.rank(rank)),
      rank_(rank),
      limit_(limit),
      spins_(job.ranks() <= static_cast<int>(std::thread::hardware_concurrency()) ? 2000 : 0),
      yields_(job.ranks() > many_ranks ? 20 : 400) {}

void Waiter::next_turn(int turn, const WaitRecord& what, const std::function<bool()>& done) {
  if (turn == 0) {
    published_ = false;
    waited_ = std::chrono::nanoseconds(0);
    began_ = std::chrono::steady_clock::now();
  }
  if (job_.job().aborted.load(std::memory_order_relaxed)) {
    throw JobAborted("stopped in " + text_of(what) + ": " + job_.abort_text());
  }
  if (const int lost = lost_peer.load(std::memory_order_acquire); lost >= 0) {
    const char* reason = lost_reason.load(std::memory_order_relaxed);
    throw PeerLost("rank " + std::to_string(rank_) + ": the connection to rank " +
                   std::to_string(lost) + " broke during " + text_of(what) +
                   (reason != nullptr ? std::string(": ") + reason : std::string()));
  }
  if (turn < spins_) {
    return;
  }
  const bool look = turn % turns_a_look == 0;  // at the clock, which costs as much as a yield
  if (turn < spins_ + yields_ &&
      (!look || std::chrono::steady_clock::now() - began_ < longest_yielding)) {
    sched_yield();
    return;
  }
  park(what, done);
}

void Waiter::park(const WaitRecord& what, const std::function<bool()>& done) {
  Bell& bell = me_.mailbox.bell;
  const auto seen = bell.rings();
  if (before_parking) {
    before_parking();
  }
  bell.will_sleep();
  if (!done() && !job_.job().aborted.load(std::memory_order_seq_cst)) {
    if (!std::exchange(published_, true)) {
      me_.waiting.write(what);
    }
    me_.parking.rings.store(seen, std::memory_order_relaxed);
    me_.parking.epoch.fetch_add(1, std::memory_order_seq_cst);
    const auto before = std::chrono::steady_clock::now();
    bell.park(seen, std::min<std::chrono::nanoseconds>(slice, limit_));
    me_.parking.epoch.fetch_add(1, std::memory_order_seq_cst);  // before it looks again
    const std::chrono::nanoseconds parked = std::chrono::steady_clock::now() - before;
    waited_ += std::min<std::chrono::nanoseconds>(parked, 2 * slice);
  }
  bell.awake();
  if (waited_ > limit_ && !done()) {
    throw PeerLost(
        "rank " + std::to_string(rank_) + " waited " +
        std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(waited_).count()) +
        " ms, " + past_the_limit + ", in " + text_of(what));
  }
}

void Waiter::forget() {
  published_ = false;
  me_.waiting.write({});
}

}  // namespace ringside
