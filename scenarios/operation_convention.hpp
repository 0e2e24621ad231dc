// What the size of a measured operation means, and how its bandwidth is counted: the definitions of
// nccl-tests (doc/PERFORMANCE.md), so that figures can be laid side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/collectives.hpp"
#include "runtime/units.hpp"

namespace ringside {

enum class Placement : std::uint8_t { in_place, out_of_place };

std::string_view name_of(Placement placement);

struct OperationConvention {
  std::string_view operation;
  // Whether the count is one rank's part, so that S = count * element * ranks; S is the whole
  // buffer's bytes everywhere.
  bool count_per_rank;
  bool rooted;
  double (*factor)(int ranks);  // busbw = algbw * factor
  std::string_view factor_text;
  std::vector<Placement> placements;  // those that the operation really has
};

// Throws BadUse with the names that exist.
const OperationConvention& convention_of(std::string_view operation);

// Operations that have both a convention and an algorithm, in the order of operation_rows().
std::vector<std::string> measured_operations();

// A row of operation_rows(). Throws BadUse with the algorithms that the operation has.
const OperationRow& operation_row(std::string_view operation, std::string_view algorithm);
std::vector<std::string> algorithms_of(std::string_view operation);

// GB/s (10^9) of S bytes in `seconds`: 0 for no bytes, infinite for bytes in no time.
double algorithm_bandwidth(std::uint64_t bytes, double seconds);
// The same, as what it asks of each link; 0 for one rank, which sends nothing.
double bus_bandwidth(const OperationConvention& convention, int ranks, double algorithm_bandwidth);

// The second buffer of a call, in elements: `whole` is the count of the first.
std::size_t other_count(const OperationConvention& convention, int ranks, std::size_t whole);

// A call on `data`, the whole buffer; out of place all_gather reads `other`, and the rest write it.
void run_placed(Comm& comm, const OperationRow& row, Placement placement, Buffer data, Buffer other,
                ReduceOp op, int root);

}  // namespace ringside
