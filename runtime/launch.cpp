#include "runtime/launch.hpp"

#include <algorithm>

#include "runtime/job.hpp"
#include "runtime/listeners.hpp"
#include "runtime/preflight.hpp"
#include "runtime/rank_processes.hpp"
#include "runtime/rank_threads.hpp"
#include "runtime/undelivered.hpp"

namespace ringside {

namespace {

// Of a rank whose tensors are meta: messages under way, and the few numbers that are real.
constexpr std::size_t meta_region_bytes = 16UL << 20;

std::size_t stored_bytes(const JobOptions& options) {
  return options.memory == Backing::real ? options.region_bytes
                                         : std::min(options.region_bytes, meta_region_bytes);
}

}  // namespace

JobResult run_job(int n, const JobOptions& options, const std::function<std::string(Rank&)>& fn) {
  check_limits(n, options);
  SharedJob job(n, stored_bytes(options));
  auto listeners = options.cluster.nodes(n) > 1 ? listen_on_loopback(n) : std::vector<int>{};
  JobResult result = options.as == Ranks::threads
                         ? run_as_threads(job, options, listeners, fn)
                         : run_as_processes(job, options, std::move(listeners), fn);
  if (result.ok()) {
    result.failure = undelivered(result.ranks);
    result.cause = result.failure ? result.failure->ranks.front() : -1;
  }
  return result;
}

}  // namespace ringside
