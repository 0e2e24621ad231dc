// Expectations inside ranks: an EXPECT or ASSERT that fails in a rank fails the test in the parent,
// at its own file and line and marked with the rank. Processes and threads alike, and also when the
// rank then throws or crashes.
//
//   const auto sums = run_ranks_tested(4, {}, [](Rank& rank) {
//     EXPECT_EQ(rank.size(), 4);
//     return rank.id();
//   });
//
// An ASSERT ends the function of its own rank only; the other ranks go on.
#pragma once

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/launch.hpp"

namespace ringside {

// A job with little memory, for tests of many ranks.
inline JobOptions small_job(Ranks as = Ranks::processes) {
  JobOptions options;
  options.as = as;
  options.region_bytes = 1U << 20;
  return options;
}

inline std::string name_of_ranks(const testing::TestParamInfo<Ranks>& info) {
  return info.param == Ranks::processes ? "processes" : "threads";
}

struct RankFailure {
  int rank = -1;
  std::string file;  // empty: not known
  int line = -1;
  std::string message;

  static constexpr std::string_view mark = "\x01 expectation\n";

  std::string as_note() const {
    return std::string(mark) + file + '\n' + std::to_string(line) + '\n' + message;
  }

  static RankFailure from_note(int rank, std::string_view note) {
    note.remove_prefix(mark.size());
    const auto end_of_file = note.find('\n');
    const auto end_of_line = note.find('\n', end_of_file + 1);
    const auto line = note.substr(end_of_file + 1, end_of_line - end_of_file - 1);
    return {rank, std::string(note.substr(0, end_of_file)), std::stoi(std::string(line)),
            std::string(note.substr(end_of_line + 1))};
  }
};

// In a rank: sends each failed expectation of this thread to the launcher at once, so that a crash
// does not swallow it.
class FailureSender : public testing::ScopedFakeTestPartResultReporter {
 public:
  explicit FailureSender(Rank& rank)
      : ScopedFakeTestPartResultReporter(INTERCEPT_ONLY_CURRENT_THREAD, nullptr), rank_(rank) {}

  void ReportTestPartResult(const testing::TestPartResult& result) override {
    if (result.failed()) {
      rank_.note(RankFailure{rank_.id(), result.file_name() != nullptr ? result.file_name() : "",
                             result.line_number(), result.message()}
                     .as_note());
    }
  }

 private:
  Rank& rank_;
};

// In the launcher: keeps the failures of the ranks, and fails the test with them at its own end.
class FailureCollector {
 public:
  FailureCollector() = default;
  FailureCollector(const FailureCollector&) = delete;
  FailureCollector& operator=(const FailureCollector&) = delete;

  ~FailureCollector() {
    for (const RankFailure& failure : failures_) {
      ADD_FAILURE_AT(failure.file.c_str(), failure.line)
          << "in rank " << failure.rank << ": " << failure.message;
    }
  }

  // `options`, with notes that pass by here first.
  JobOptions listening(JobOptions options) {
    options.on_note = [this, next = std::move(options.on_note)](int rank, std::string_view note) {
      if (note.starts_with(RankFailure::mark)) {
        failures_.push_back(RankFailure::from_note(rank, note));
      } else if (next) {
        next(rank, note);
      }
    };
    return options;
  }

 private:
  std::vector<RankFailure> failures_;
};

// run_job with expectations; the result says what became of each rank.
template <class Fn>
JobResult run_job_tested(int n, const JobOptions& options, Fn&& fn) {
  FailureCollector collector;
  return run_job(n, collector.listening(options), [&](Rank& rank) -> std::string {
    const FailureSender sender(rank);
    if constexpr (std::is_void_v<std::invoke_result_t<Fn, Rank&>>) {
      fn(rank);
      return {};
    } else {
      return fn(rank);
    }
  });
}

// run_ranks with expectations: the values in rank order; a failed rank is thrown.
template <class Fn>
auto run_ranks_tested(int n, const JobOptions& options, Fn&& fn) {
  FailureCollector collector;
  return run_ranks(n, collector.listening(options), [&](Rank& rank) {
    const FailureSender sender(rank);
    return fn(rank);
  });
}

}  // namespace ringside
