// Proof of an algorithm for a number of ranks and a count: not by sample numbers, but for every
// input, since what is computed on symbols is the expression itself.
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "collectives/collectives.hpp"
#include "collectives/diagnosis.hpp"

namespace ringside {

struct Claim {
  std::string_view name;
  bool holds = true;
  std::string fault{};  // what is wrong, where, and why
};

struct Proof {
  CollectiveCall call;
  // contributions, positions: what each element holds is what the definition requires;
  // equal: all ranks hold equal expressions; numbers: evaluated in one process, they give the bits
  // of the run; halves: all_reduce is all_gather after reduce_scatter; reductions: an average and a
  // maximum hold as the sum does.
  std::vector<Claim> claims{};
  std::optional<Diagnosis> diagnosis{};  // of the first wrong element
  std::exception_ptr died{};             // the job did not run to its end: Deadlock, Desync, …

  bool holds() const;
};

struct ProofJob {
  OperationRow row;
  RunCall run{};  // instead of the row's own
  int ranks = 1;
  int gpus_per_node = 0;
  std::vector<std::size_t> counts{};
  ReduceOp op = ReduceOp::sum;
  DType numbers = DType::f32;
  std::chrono::nanoseconds limit = std::chrono::seconds(10);
};

// One proof for each count and, where there is a root, for the first, a middle and the last one.
// Throws PeerLost when a rank is lost, which proves nothing.
std::vector<Proof> prove(const ProofJob& job);

// The counts that ranks are tried on: 0, 1, p-1, p, p+1, 1000 and a prime; multiples of p for equal
// parts.
std::vector<std::size_t> counts_to_prove(const OperationRow& row, int ranks);

}  // namespace ringside
