#include "runtime/shared_memory_wire.hpp"

namespace ringside {

void SharedMemoryWire::push(Message& message) {
  job_.rank(message.envelope.destination).mailbox.push(message);
}

void SharedMemoryWire::answer(Message& lent, const Envelope& back) {
  lent.envelope = back;
  lent.delivery.store(Delivery::taken, std::memory_order_seq_cst);
  job_.rank(back.destination).mailbox.bell.ring();
}

// After the store the message is the sender's again: what is needed of it is read before.
void SharedMemoryWire::release(Message& message) {
  const int source = message.envelope.source;
  if (!message.envelope.acknowledged) {
    message.delivery.store(Delivery::free, std::memory_order_release);
    return;
  }
  message.delivery.store(Delivery::taken, std::memory_order_seq_cst);
  job_.rank(source).mailbox.bell.ring();
}

}  // namespace ringside
