// What every rank was in when the job was ended: its last operations, and its process.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/job.hpp"

namespace ringside {

struct LastSeen {
  int pid = 0;
  std::string state{};  // "sleeping"; empty: not known
  std::optional<OperationLog::Entry> current{};
  std::optional<OperationLog::Entry> finished{};  // the last one
};

// As the log of its operations has it now.
LastSeen last_seen_of(const RankState& rank, int pid, std::string state);

// What each rank waits for now; none for a rank that does not wait.
std::vector<std::optional<WaitRecord>> pending_waits(SharedJob& job);

// Those that did not come: others wait for them, or are in an operation of a group whose last one
// they have not got to, and they wait for nobody themselves, nor have ended.
std::vector<int> missing_ranks(SharedJob& job);

// A line for each rank, or for those of which the same is to be said.
std::string text_of(const std::vector<LastSeen>& ranks);

}  // namespace ringside
