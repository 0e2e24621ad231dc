// Runs a function on n ranks, as processes (or threads), and brings back what became of each.
//
// The launcher forks before it has any thread or io_context. Children die with their parent. A rank
// that throws, exits, crashes or is killed ends the whole job: the others are told, get a short
// grace, and are stopped; the report names the cause first. Nothing is left behind.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "runtime/job_options.hpp"
#include "runtime/last_seen.hpp"
#include "runtime/rank.hpp"
#include "runtime/rank_report.hpp"

namespace ringside {

enum class Ending : std::uint8_t {
  returned,  // the function returned
  threw,     // an exception left it: type and text
  exited,    // the process left by exit: code
  killed,    // a signal ended it: code
  silent,    // nothing was heard of it past the limit
  stopped    // ended because another rank had failed
};

struct RankOutcome {
  Ending ending = Ending::stopped;
  std::string type;   // of the exception: "BadUse"
  std::string text;   // of the exception, or a description
  int code = 0;       // exit code or signal
  std::string value;  // what the function returned
  RankReport report;  // up to its return or exception; empty after a crash, an exit or a kill
};

// A failure of several ranks together, found by the launcher in what they wait for.
struct JobFailure {
  std::string type;        // "Deadlock"
  std::string headline;    // one line
  std::string text;        // the headline and all that is to be said of its ranks
  std::vector<int> ranks;  // ascending
};

struct JobResult {
  std::vector<RankOutcome> ranks;
  int cause = -1;                     // the rank that ended the job; -1: all returned
  std::optional<JobFailure> failure;  // of several ranks, of which `cause` is the first
  std::vector<int> missing;           // awaited when a wait was over its limit, and not waiting
  std::vector<LastSeen> last_seen;    // by rank, when the job was ended; empty when all returned
  std::string stopped_for;            // why the others were stopped, as their own texts end
  std::chrono::nanoseconds wall{0};

  bool ok() const { return cause < 0; }

  // Names the cause first, then what every other rank was doing.
  std::string describe() const;
  // The cause as an exception of its own family (BadUse, PeerLost, …), whose text is describe().
  // Exceptions outside the family, exits and crashes become PeerLost.
  [[noreturn]] void raise() const;
};

// Throws BadUse when n ranks cannot be had here (descriptors, processes, memory: needed and
// available). A failure of a rank is in the result.
JobResult run_job(int n, const JobOptions& options, const std::function<std::string(Rank&)>& fn);

// The same for a function that returns void, a plain value, a string, or a vector of plain values:
// the values in rank order; a failure is raised.
template <class Fn>
auto run_ranks(int n, const JobOptions& options, Fn&& fn) {
  using R = std::invoke_result_t<Fn, Rank&>;
  const auto raise_unless_ok = [](const JobResult& result) {
    if (!result.ok()) {
      result.raise();
    }
  };
  if constexpr (std::is_void_v<R>) {
    raise_unless_ok(run_job(n, options, [&](Rank& rank) { return fn(rank), std::string{}; }));
  } else {
    const auto result = run_job(n, options, [&](Rank& rank) {
      const R value = fn(rank);
      if constexpr (std::is_same_v<R, std::string>) {
        return value;
      } else if constexpr (std::is_trivially_copyable_v<R>) {
        return std::string(reinterpret_cast<const char*>(&value), sizeof(R));
      } else {
        static_assert(std::is_trivially_copyable_v<typename R::value_type>);
        return std::string(reinterpret_cast<const char*>(value.data()),
                           value.size() * sizeof(typename R::value_type));
      }
    });
    raise_unless_ok(result);
    std::vector<R> values;
    for (const auto& rank : result.ranks) {
      if constexpr (std::is_same_v<R, std::string>) {
        values.push_back(rank.value);
      } else if constexpr (std::is_trivially_copyable_v<R>) {
        R value;
        std::memcpy(&value, rank.value.data(), sizeof(R));
        values.push_back(value);
      } else {
        R value(rank.value.size() / sizeof(typename R::value_type));
        if (!value.empty()) {
          std::memcpy(value.data(), rank.value.data(), rank.value.size());
        }
        values.push_back(std::move(value));
      }
    }
    return values;
  }
}

}  // namespace ringside
