// A row of an operation's table: an algorithm, and what it claims to cost.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "runtime/comm.hpp"
#include "runtime/errors.hpp"

namespace ringside {

template <class Run>
struct Algorithm {
  std::string_view name;
  Run* run;
  // Longest chain of messages that wait for each other, among p ranks.
  int (*steps)(int p);
  // Elements that `rank` sends when the whole buffer has n; counted from the root where there is
  // one.
  std::size_t (*sent)(int p, std::size_t n, int rank);
  std::string_view paper;
};

// Which algorithm runs an operation, and what its traffic is called in the log.
struct Choice {
  std::string_view algorithm;
  std::string_view label = {};
};

// The row of that name. Throws BadUse with the names that exist.
template <class Run>
const Algorithm<Run>& pick(std::span<const Algorithm<Run>> rows, std::string_view operation,
                           std::string_view name) {
  std::string names;
  for (const auto& row : rows) {
    if (row.name == name) {
      return row;
    }
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  throw BadUse("no algorithm of " + std::string(operation) + " is called \"" + std::string(name) +
               "\": choose one of " + names);
}

}  // namespace ringside
