#include "runtime/deadlock.hpp"

#include <algorithm>

namespace ringside {

namespace {

bool stays_parked(const RankLook& look, LookRules rules) {
  const bool parked = look.epoch % 2 == 1 && !look.ended && !look.awaited.empty();
  const bool unchanged = !rules.second_epochs || look.epoch == look.epoch_after;
  return parked && unchanged && !(rules.what_has_come && look.has_come);
}

// The first rank that `rank` awaits and that is stuck itself; -1: all of them have ended or run.
int stuck_target(std::span<const RankLook> looks, const std::vector<bool>& in_set, int rank) {
  for (const int target : looks[static_cast<std::size_t>(rank)].awaited) {
    if (in_set[static_cast<std::size_t>(target)]) {
      return target;
    }
  }
  return -1;
}

}  // namespace

std::vector<int> stuck_ranks(std::span<const RankLook> looks, LookRules rules) {
  const std::size_t n = looks.size();
  std::vector<bool> in_set(n);
  for (std::size_t r = 0; r < n; ++r) {
    in_set[r] = stays_parked(looks[r], rules);
  }
  std::vector<int> reasons(n);  // awaited ranks that are in the set or have ended
  std::vector<std::vector<std::size_t>> waiters(n);
  std::vector<std::size_t> free;
  for (std::size_t r = 0; r < n; ++r) {
    if (!in_set[r]) {
      continue;
    }
    for (const int target : looks[r].awaited) {
      const auto t = static_cast<std::size_t>(target);
      reasons[r] += in_set[t] || looks[t].ended ? 1 : 0;
      waiters[t].push_back(r);
    }
    if (reasons[r] == 0) {
      free.push_back(r);
    }
  }
  while (!free.empty()) {
    const std::size_t gone = free.back();
    free.pop_back();
    in_set[gone] = false;
    for (const std::size_t waiter : waiters[gone]) {
      if (in_set[waiter] && --reasons[waiter] == 0) {
        free.push_back(waiter);
      }
    }
  }
  std::vector<int> stuck;
  for (std::size_t r = 0; r < n; ++r) {
    if (in_set[r]) {
      stuck.push_back(static_cast<int>(r));
    }
  }
  return stuck;
}

std::vector<std::vector<int>> wait_cycles(std::span<const RankLook> looks,
                                          const std::vector<int>& stuck) {
  std::vector<bool> in_set(looks.size());
  for (const int r : stuck) {
    in_set[static_cast<std::size_t>(r)] = true;
  }
  std::vector<int> walk_of(looks.size(), -1);  // by which start each rank was reached first
  std::vector<std::vector<int>> cycles;
  for (const int start : stuck) {
    std::vector<int> path;
    int at = start;
    while (at >= 0 && walk_of[static_cast<std::size_t>(at)] < 0) {
      walk_of[static_cast<std::size_t>(at)] = start;
      path.push_back(at);
      at = stuck_target(looks, in_set, at);
    }
    if (at >= 0 && walk_of[static_cast<std::size_t>(at)] == start) {
      std::vector<int> cycle(std::find(path.begin(), path.end(), at), path.end());
      std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
      cycles.push_back(std::move(cycle));
    }
  }
  return cycles;
}

}  // namespace ringside
