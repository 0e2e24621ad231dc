// `ringside prove`: every algorithm, for every number of ranks and count, on symbols.
#pragma once

#include <string>
#include <vector>

#include "collectives/proof.hpp"

namespace ringside {

struct ProveRequest {
  std::vector<OperationRow> rows;
  int fewest_ranks = 1;
  int most_ranks = 9;
  std::vector<std::size_t> counts{};  // empty: those of counts_to_prove
  std::vector<int> gpus_per_node{};   // 0: one node
  bool nodes_given = false;           // for every algorithm, not for hierarchical ones only
  std::chrono::nanoseconds timeout = std::chrono::seconds(10);
  bool json = false;
};

// Prints a line per algorithm; exit code 0, or 1 when a proof fails, with its explanation. Throws
// BadUse when there is nothing to prove.
int prove_verb(const ProveRequest& request);

}  // namespace ringside
