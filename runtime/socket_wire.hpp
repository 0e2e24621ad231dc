// Between nodes: TCP over loopback.
//
// A thread of its own serves the sockets both ways, so the rank never blocks in a system call for
// the network and its waits keep looking at their limit and at aborts. docs/wires.md has the frames
// and the rules of failure.
#pragma once

#include <memory>
#include <vector>

#include "runtime/job.hpp"
#include "runtime/waiter.hpp"
#include "runtime/wire.hpp"

namespace ringside {

class SocketIo;

class SocketWire : public Wire {
 public:
  // Takes over the listener of `rank`; made after the fork, because a thread does not survive one.
  SocketWire(int rank, SharedJob& job, Waiter& waiter, const std::vector<int>& listeners);
  ~SocketWire() override;

  void push(Message& message) override;
  void release(Message& message) override;
  void flush() override;

 private:
  std::unique_ptr<SocketIo> io_;
};

}  // namespace ringside
