// Which ranks wait for what cannot come: found exactly, while others run.
//
// A rank publishes its wait, makes its epoch odd, and parks; on waking it makes the epoch even
// before it looks again. An observer reads all epochs, then of the parked ones whether anything has
// come for them since they last looked, then all epochs again. Who is parked through all of that,
// with nothing come, can only be freed by a rank that it awaits. So ranks none of whose awaited
// ranks is in the same state, or has ended, are taken out until nothing changes; the rest is stuck.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/wait_record.hpp"

namespace ringside {

// One rank as the observer saw it.
struct RankLook {
  std::uint64_t epoch = 0;        // before all else; odd: parked
  std::uint64_t epoch_after = 0;  // after all else
  bool ended = false;             // its function has returned; read with the first epochs
  bool has_come = false;          // something that can end its wait, read between the epochs
  std::vector<int> awaited{};     // the ranks all of which it needs; empty: it waits for no rank
  WaitRecord wait{};
};

// What the observer respects; the tests show what each is for.
struct LookRules {
  bool what_has_come = true;
  bool second_epochs = true;
};

// The ranks that are stuck for certain, ascending.
std::vector<int> stuck_ranks(std::span<const RankLook> looks, LookRules rules = {});

// The cycles among stuck ranks, each beginning with its lowest rank. There is none when all wait,
// through others or not, for ranks that have ended.
std::vector<std::vector<int>> wait_cycles(std::span<const RankLook> looks,
                                          const std::vector<int>& stuck);

}  // namespace ringside
