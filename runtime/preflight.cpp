#include "runtime/preflight.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include "runtime/errors.hpp"
#include "runtime/process.hpp"

namespace ringside {

namespace {

// Epoll, timer and event of Asio, and one in hand; and strangers.
constexpr std::uint64_t of_the_event_loop = 4 + fewest_strangers;
constexpr std::uint64_t plenty = 10'000;  // so far below a limit nobody counts processes

std::string text(std::uint64_t number) {
  return std::to_string(number);
}

std::uint64_t ranks_in_other_nodes(int n, const Cluster& cluster) {
  const int in_last_node = n - (cluster.nodes(n) - 1) * cluster.gpus_per_node;
  return static_cast<std::uint64_t>(
      cluster.nodes(n) == 1 ? 0 : n - std::min(in_last_node, cluster.gpus_per_node));
}

void check_descriptors(int n, const JobOptions& options) {
  const auto limit = descriptor_limit();
  if (!limit) {
    return;
  }
  const auto ranks = static_cast<std::uint64_t>(n);
  const std::uint64_t open = open_descriptors();
  const std::uint64_t listeners = options.cluster.nodes(n) > 1 ? ranks : 0;
  const std::uint64_t sockets = 2 * ranks_in_other_nodes(n, options.cluster);
  const bool processes = options.as == Ranks::processes;
  const std::uint64_t launcher = open + listeners + (processes ? ranks + 1 : 0);
  const std::uint64_t rank = open + listeners + sockets + 1 + (sockets > 0 ? of_the_event_loop : 0);
  const std::uint64_t needed =
      processes ? std::max(launcher, rank)
                : launcher + ranks * (sockets + (sockets > 0 ? of_the_event_loop : 0));
  if (needed <= *limit) {
    return;
  }
  throw BadUse("a job of " + text(ranks) + " ranks in " + std::to_string(options.cluster.nodes(n)) +
               " node(s) needs about " + text(needed) + " file descriptors in one process (" +
               text(open) + " are open, " + text(processes ? ranks + 1 : 0) + " for pipes, " +
               text(listeners) + " to listen, " + text(sockets) +
               " for connections of a rank to other nodes, the rest for its event loop and for "
               "strangers that connect), and the limit is " +
               text(*limit) + "; raise it (ulimit -n " + text(needed) +
               ") or use fewer ranks or nodes");
}

void check_processes(int n, const JobOptions& options) {
  const auto limit = process_limit();
  // Where a job spans nodes, a thread of each rank reads its sockets.
  const std::uint64_t threads = options.cluster.nodes(n) > 1 ? 2 : 1;
  const std::uint64_t needed = static_cast<std::uint64_t>(n) * threads;
  if (!limit || *limit > needed + plenty) {
    return;
  }
  const auto running = processes_of_user();
  if (!running || *running + needed <= *limit) {
    return;
  }
  throw BadUse("a job of " + std::to_string(n) + " ranks needs " + text(needed) +
               " processes and threads; " + text(*running) +
               " of this user run already, and the limit is " + text(*limit) +
               "; raise it (ulimit -u " + text(*running + needed) + ") or use fewer ranks");
}

}  // namespace

void check_limits(int n, const JobOptions& options) {
  if (n < 1) {
    throw BadUse("a job has at least 1 rank, not " + std::to_string(n));
  }
  check_descriptors(n, options);
  check_processes(n, options);
}

}  // namespace ringside
