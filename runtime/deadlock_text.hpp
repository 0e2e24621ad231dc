// What is said of ranks that are stuck: the cycle, a line for each rank, and what to do.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/deadlock.hpp"

namespace ringside {

// "deadlock: rank 0 -> 2 -> 3 -> 1 -> 0"; without a cycle "deadlock: rank 1 waits for rank 3,
// which has ended".
std::string deadlock_headline(std::span<const RankLook> looks, const std::vector<int>& stuck);

// The headline and all that follows.
std::string deadlock_text(std::span<const RankLook> looks, const std::vector<int>& stuck);

}  // namespace ringside
