#include "runtime/socket_wire.hpp"

#include "runtime/socket_io.hpp"

namespace ringside {

SocketWire::SocketWire(int rank, SharedJob& job, Waiter& waiter, const std::vector<int>& listeners)
    : io_(std::make_unique<SocketIo>(rank, job, waiter, listeners)) {}

SocketWire::~SocketWire() = default;

void SocketWire::push(Message& message) {
  io_->push(message);
}

void SocketWire::release(Message& message) {
  io_->release(message);
}

void SocketWire::flush() {
  io_->flush();
}

}  // namespace ringside
