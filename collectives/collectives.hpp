// All operations and their tables in one form, for whatever goes over every row: tests, proofs, the
// command line, documents.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "collectives/algorithm.hpp"

namespace ringside {

struct OperationRow {
  std::string_view operation;
  std::string_view algorithm;
  int (*steps)(const Shape& shape);
  std::size_t (*sent)(const Shape& shape);
  std::string_view paper;
  bool reduces;      // takes a ReduceOp
  bool rooted;       // takes a root
  bool equal_parts;  // the count is a multiple of the ranks
};

// A row per (operation, algorithm).
std::span<const OperationRow> operation_rows();

// The names of the operations, in the order of the rows.
std::span<const std::string_view> operation_names();

// Runs an operation by name on buffers of n elements: in place in `data`, but all_to_all from
// `data` to `out`. Throws BadUse when there is no such operation or algorithm.
void run_operation(Comm& comm, std::string_view operation, std::string_view algorithm, Buffer data,
                   Buffer out, ReduceOp op, int root);

}  // namespace ringside
