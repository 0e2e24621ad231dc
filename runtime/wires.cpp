#include "runtime/wires.hpp"

#include "runtime/disturbed_wire.hpp"
#include "runtime/shared_memory_wire.hpp"
#include "runtime/socket_wire.hpp"

namespace ringside {

Wires::Wires(int rank, SharedJob& job, const JobOptions& options, Waiter& waiter,
             const std::vector<int>& listeners) {
  const auto own = [&](std::unique_ptr<Wire> wire) {
    if (options.disturb != 0) {
      wire =
          std::make_unique<DisturbedWire>(std::move(wire), options.disturb + owned_.size(), rank);
    }
    return owned_.emplace_back(std::move(wire)).get();
  };
  Wire* inside = own(std::make_unique<SharedMemoryWire>(job));
  Wire* outside = options.cluster.nodes(job.ranks()) > 1
                      ? own(std::make_unique<SocketWire>(rank, job, waiter, listeners))
                      : nullptr;
  const int node = options.cluster.node_of(rank);
  for (int r = 0; r < job.ranks(); ++r) {
    by_rank_.push_back(options.cluster.node_of(r) == node ? inside : outside);
  }
}

Wires::~Wires() = default;

void Wires::flush() {
  for (const auto& wire : owned_) {
    wire->flush();
  }
}

}  // namespace ringside
