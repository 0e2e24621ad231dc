// The wires of one rank, made from the topology: shared memory to its own node, sockets to others.
#pragma once

#include <memory>
#include <vector>

#include "runtime/job.hpp"
#include "runtime/job_options.hpp"
#include "runtime/waiter.hpp"
#include "runtime/wire.hpp"

namespace ringside {

class Wires {
 public:
  Wires(int rank, SharedJob& job, const JobOptions& options, Waiter& waiter,
        const std::vector<int>& listeners);
  ~Wires();

  // By world rank.
  std::vector<Wire*> by_rank() const { return by_rank_; }

  void flush();

 private:
  std::vector<std::unique_ptr<Wire>> owned_;
  std::vector<Wire*> by_rank_;
};

}  // namespace ringside
