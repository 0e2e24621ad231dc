// The life of one rank, as process or thread: it is built, waits for the start of the job, runs
// its function, and tells what became of it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/job.hpp"
#include "runtime/launch.hpp"

namespace ringside {

using RankFunction = std::function<std::string(Rank&)>;

struct RankBody {
  int id = 0;
  SharedJob& job;
  const JobOptions& options;
  const std::vector<int>& listeners;
  const RankFunction& fn;
  std::function<void(std::string_view)> send_note;
  std::function<void()> when_built;
  // Called once, while the rank still exists: its sockets are open, so that no peer takes its end
  // for a broken connection before the launcher knows better.
  std::function<void(const RankOutcome&)> deliver;
};

// Throws only what `deliver` throws. The ending is returned, threw or stopped.
void run_body(const RankBody& body);

// Until the job is ended, or a while has passed: a rank that has failed stays that long, so that
// its peers hear of the cause before they see its sockets close.
void await_end(SharedJob& job, int id);

// Starts the ranks of a job, which wait until then.
void release_ranks(SharedJob& job);

}  // namespace ringside
