// How the program ends: exit codes, and the verdict that goes with each error.
#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace ringside {

inline constexpr int exit_ok = 0;             // all checks hold
inline constexpr int exit_check_failed = 1;   // a check failed
inline constexpr int exit_bad_use = 2;        // bad use or configuration
inline constexpr int exit_peer_lost = 3;      // a rank was lost, or silent past the limit
inline constexpr int exit_deadlock = 4;       // deadlock, or members that disagree
inline constexpr int exit_out_of_memory = 5;  // out of device memory

struct Failure {
  int exit_code;
  std::string_view verdict;  // refused, lost, deadlock, mismatch, oom
  std::string text;
};

// The one place that says what an exception means for the user. Anything outside the family of
// runtime/errors.hpp counts as a lost rank, with its own text.
Failure failure_of(const std::exception_ptr& error);

}  // namespace ringside
