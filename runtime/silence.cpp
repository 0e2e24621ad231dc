#include "runtime/silence.hpp"

#include <algorithm>

#include "runtime/units.hpp"

namespace ringside {

namespace {

std::string seconds(std::chrono::nanoseconds time) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
  return std::to_string(ms / 1000) + "." + std::to_string(ms % 1000 / 100) + " s";
}

}  // namespace

SilenceWatch::SilenceWatch(SharedJob& job, std::chrono::nanoseconds limit)
    : job_(job), limit_(limit), ranks_(static_cast<std::size_t>(job.ranks())) {}

std::optional<std::string> SilenceWatch::look_at(int rank,
                                                 std::chrono::nanoseconds since_last_look) {
  Seen& seen = ranks_[static_cast<std::size_t>(rank)];
  RankState& state = job_.rank(rank);
  const auto activity = state.activity.load(std::memory_order_relaxed);
  if (activity != seen.activity || seen.heard) {
    seen = {.activity = activity, .heard = false};
    return std::nullopt;
  }
  // One that has finished waits for its peers across nodes: they are looked at.
  if (state.finished.load(std::memory_order_relaxed) &&
      job_.job().finished_ranks.load(std::memory_order_relaxed) <
          static_cast<unsigned>(job_.ranks())) {
    seen = {.activity = activity, .heard = false};
    return std::nullopt;
  }
  const auto passed = std::min<std::chrono::nanoseconds>(since_last_look, 2 * slice);
  const auto wait = state.waiting.read();
  const bool waits = wait && !std::string_view(wait->kind).empty();
  seen.idle += passed;
  if (!waits) {
    seen.idle_without_wait += passed;
  }
  if (seen.idle_without_wait / 2 <= limit_ && seen.idle / 4 <= limit_) {
    return std::nullopt;
  }
  return "was silent for " + seconds(seen.idle) + ", past the limit of " + seconds(limit_) +
         (waits ? ", in " + text_of(*wait)
                : std::string(", and not in a wait: it computes or is stopped"));
}

}  // namespace ringside
