#include "runtime/deadlock_watch.hpp"

#include <algorithm>

#include "runtime/deadlock.hpp"
#include "runtime/deadlock_text.hpp"

namespace ringside {

namespace {

bool is_parked(const RankLook& look) {
  return look.epoch % 2 == 1 && !look.ended;
}

// Everything that can end a wait rings the bell of who waits, or is counted as inside a socket
// before its sender can park, and until after the ring. So sockets are looked at first.
void look_at_wait(RankState& state, RankLook& look) {
  look.has_come = state.in_socket.load(std::memory_order_seq_cst) != 0 ||
                  state.mailbox.bell.rings() != state.parking.rings.load(std::memory_order_relaxed);
  const auto wait = look.has_come ? std::nullopt : state.waiting.read();
  if (!wait) {
    look.has_come = true;  // it is about to wake, or is already writing something else
    return;
  }
  look.wait = *wait;
  if (wait->peer >= 0) {
    look.awaited = {wait->peer};
  }
}

std::vector<RankLook> look_at_all(SharedJob& job) {
  std::vector<RankLook> looks(static_cast<std::size_t>(job.ranks()));
  const auto each = [&](auto&& visit) {
    for (std::size_t r = 0; r < looks.size(); ++r) {
      visit(job.rank(static_cast<int>(r)), looks[r]);
    }
  };
  each([](RankState& state, RankLook& look) {
    look.epoch = state.parking.epoch.load(std::memory_order_seq_cst);
    look.ended = state.finished.load(std::memory_order_seq_cst);
  });
  if (std::none_of(looks.begin(), looks.end(), is_parked)) {
    return looks;
  }
  each([](RankState& state, RankLook& look) {
    if (is_parked(look)) {
      look_at_wait(state, look);
    }
  });
  each([](RankState& state, RankLook& look) {
    look.epoch_after = state.parking.epoch.load(std::memory_order_seq_cst);
  });
  return looks;
}

// A stuck rank and another one that means, or meant, something else by the same operation of one
// group: the nearer cause. The other may have ended, or be about to get stuck.
std::string disagreement_of(SharedJob& job, const std::vector<int>& stuck) {
  std::vector<std::vector<OperationLog::Entry>> said;
  for (int r = 0; r < job.ranks(); ++r) {
    said.push_back(job.rank(r).operations.last());
  }
  for (const int r : stuck) {
    const auto mine = job.rank(r).operations.current();
    for (int other = 0; other < job.ranks() && mine; ++other) {
      for (const auto& entry : said[static_cast<std::size_t>(other)]) {
        if (other != r && disagree(entry.operation, mine->operation)) {
          return disagreement_text(r, mine->operation, other, entry.operation.signature);
        }
      }
    }
  }
  return "";
}

}  // namespace

std::chrono::milliseconds DeadlockWatch::interval() const {
  return std::chrono::milliseconds(std::clamp(job_.ranks() / 10, 20, 100));
}

std::optional<JobFailure> DeadlockWatch::look() {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) {
    return std::nullopt;
  }
  next_ = now + interval();
  const auto looks = look_at_all(job_);
  const auto stuck = stuck_ranks(looks);
  if (stuck.empty()) {
    return std::nullopt;
  }
  JobFailure failure{.type = "Deadlock",
                     .headline = deadlock_headline(looks, stuck),
                     .text = deadlock_text(looks, stuck),
                     .ranks = stuck};
  if (const std::string both = disagreement_of(job_, stuck); !both.empty()) {
    failure.type = "Desync";
    failure.headline = "mismatch: " + both;
    failure.text = failure.headline + "\n" + failure.text;
  }
  return failure;
}

}  // namespace ringside
