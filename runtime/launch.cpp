#include "runtime/launch.hpp"

#include "runtime/job.hpp"
#include "runtime/listeners.hpp"
#include "runtime/preflight.hpp"
#include "runtime/rank_processes.hpp"
#include "runtime/rank_threads.hpp"

namespace ringside {

JobResult run_job(int n, const JobOptions& options, const std::function<std::string(Rank&)>& fn) {
  check_limits(n, options);
  SharedJob job(n, options.region_bytes);
  auto listeners = options.cluster.nodes(n) > 1 ? listen_on_loopback(n) : std::vector<int>{};
  switch (options.as) {
    case Ranks::threads:
      return run_as_threads(job, options, listeners, fn);
    case Ranks::processes:
      break;
  }
  return run_as_processes(job, options, std::move(listeners), fn);
}

}  // namespace ringside
