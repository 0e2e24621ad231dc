// The steps of all ranks as one sequence. Ranks may have different numbers of steps: those that
// fold, or sit in a smaller node, have fewer.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/units.hpp"

namespace ringside {

struct OwnStep {
  std::string phase;
  Time start = Time::max();  // of its first departure; the last if it sends nothing
};

// Steps of several ranks that are one: of the same phase, and as the same turn in it.
struct JoinedStep {
  std::string phase;
  std::map<int, int> own{};  // rank: its own step
};

// [rank][step]: every rank's own steps in their order, which is kept; otherwise by start.
std::vector<JoinedStep> joined_steps(const std::vector<std::vector<OwnStep>>& ranks);

}  // namespace ringside
