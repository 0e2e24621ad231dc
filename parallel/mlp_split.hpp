// Three ways to cut y = gelu(x A) B over t ranks, of which two are right (Shoeybi et al. 2019,
// Megatron-LM, section 3).
//
//   column_row   A by columns, B by rows: gelu is of whole sums, one all-reduce of y at the end
//   row_first    A by rows: each rank has a part of every sum and takes its gelu: wrong, because
//                gelu(a + b) is not gelu(a) + gelu(b)
//   column_only  A and B by columns: right, but the hidden row, which is wider, has to be gathered
//                between the products, and y after them
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "models/gelu_mlp.hpp"
#include "parallel/fault.hpp"
#include "runtime/comm.hpp"

namespace ringside {

enum class MlpSplit : std::uint8_t { column_row, row_first, column_only };

std::string_view name_of(MlpSplit split);
// Throws BadUse with the names that exist.
MlpSplit parse_mlp_split(std::string_view name);

struct MlpSplitOptions {
  MlpSplit split = MlpSplit::column_row;
  std::string all_reduce = "ring";
  std::string all_gather = "ring";
  Fault fault = Fault::none;  // or leave_not_reduced
};

// Throws BadUse, with the ranks that would do, when they do not divide what the split cuts.
void require_divisible(MlpSplit split, int ranks);

// y on every rank, [5, 4]. What a rank computes with of A and B is in `memory` as weights; x and
// `mlp` may be elsewhere. Labels: "bench.hidden" and "bench.out". Throws as require_divisible.
Tensor run_split(Comm& group, DeviceMemory& memory, const GeluMlp& mlp,
                 const MlpSplitOptions& options);

// Bytes of A and B that a rank holds: by rows first, all of B.
std::int64_t weights_of_split(MlpSplit split, int ranks);

// Bytes that a rank sends, with rings; the mean, where ranks do not divide 5 x 4 evenly.
std::int64_t sent_by_split(MlpSplit split, int ranks);

// One element of the hidden row as row_first has it: where it is furthest off.
struct GeluOfParts {
  std::size_t token = 0;
  std::size_t column = 0;
  double sum = 0;           // x A there
  double gelu_of_sum = 0;   // what is meant
  double sum_of_gelus = 0;  // what is computed: of each rank's part
  std::string parts{};      // "0.31 + -0.84"
};

GeluOfParts worst_of_parts(DeviceMemory& memory, const GeluMlp& mlp, int ranks);

}  // namespace ringside
