// A row of an operation's table: an algorithm, and what it claims to cost.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/comm.hpp"
#include "runtime/errors.hpp"

namespace ringside {

// The call that a claim speaks of, as one rank sees it.
struct Shape {
  int p = 1;          // ranks of the group
  std::size_t n = 0;  // elements of the whole buffer
  int rank = 0;       // group rank, counted from the root where there is one
  int root = 0;
  std::vector<int> node_of = {};  // by group rank; empty: all in one
};

Shape shape_of(const Comm& comm, std::size_t n, int root = 0);

template <class Run>
struct Algorithm {
  std::string_view name;
  Run* run;
  // Longest chain of messages that wait for each other.
  int (*steps)(const Shape& shape);
  // Elements that the rank sends.
  std::size_t (*sent)(const Shape& shape);
  std::string_view paper;
};

// Which algorithm runs an operation, and what its traffic is called in the log.
struct Choice {
  std::string_view algorithm;  // "auto": by size and nodes, from the table of choice.cpp
  std::string_view label = {};
};

// What "auto" stands for, the same on every member: from the bytes of the whole buffer and the
// group's nodes alone. Other names stand for themselves.
std::string_view chosen(std::string_view operation, std::string_view algorithm, const Comm& comm,
                        std::size_t bytes);
std::string_view chosen(std::string_view operation, std::string_view algorithm, bool several_nodes,
                        std::size_t bytes);

// The row of that name. Throws BadUse with the names that exist.
template <class Run>
const Algorithm<Run>& pick(std::span<const Algorithm<Run>> rows, std::string_view operation,
                           std::string_view name) {
  std::string names = "auto";
  for (const auto& row : rows) {
    if (row.name == name) {
      return row;
    }
    names += ", " + std::string(row.name);
  }
  throw BadUse("no algorithm of " + std::string(operation) + " is called \"" + std::string(name) +
               "\": choose one of " + names);
}

}  // namespace ringside
