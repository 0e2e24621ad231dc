// One job that measures every case: forks once, allocates its tensors once, and touches them before
// the first timed call.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "scenarios/collective_case.hpp"

namespace ringside {

// Runs one call of a case; run_placed, unless a test plants a fault.
using RunCase = std::function<void(Comm&, const CollectiveCase&, Placement, Buffer data,
                                   Buffer other, int root)>;

// Algorithms × reductions × sizes. Throws BadUse for an algorithm that the operation does not have.
std::vector<CollectiveCase> cases_of(const CollectiveRequest& request);

// Real memory that one rank needs: its tensors, and as much again under way.
std::size_t rank_bytes(const CollectiveRequest& request);

// Throws BadUse with needed and available memory where the request does not fit in the machine.
void check_memory(const CollectiveRequest& request);

// `progress` is told what is going on. Throws what a failed rank stands for.
std::vector<MeasuredCase> measure(const CollectiveRequest& request,
                                  const std::function<void(std::string_view)>& progress,
                                  const RunCase& run = {});

}  // namespace ringside
