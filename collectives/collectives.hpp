// All operations and their tables in one form, for whatever goes over every row: tests, the command
// line, documents.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/comm.hpp"

namespace ringside {

struct OperationRow {
  std::string_view operation;
  std::string_view algorithm;
  int (*steps)(int p);
  std::size_t (*sent)(int p, std::size_t n, int rank);
  std::string_view paper;
  bool reduces;  // takes a ReduceOp
};

// A row per (operation, algorithm).
std::span<const OperationRow> operation_rows();

// Runs an operation by name on buffers of n elements: in place in `data`, but all_to_all from
// `data` to `out`. Throws BadUse when there is no such operation or algorithm.
void run_operation(Comm& comm, std::string_view operation, std::string_view algorithm, Buffer data,
                   Buffer out, ReduceOp op, int root);

}  // namespace ringside
