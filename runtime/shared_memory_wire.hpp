// Inside a node: a message is pushed straight into the destination's mailbox, and its payload is
// read where it lies.
#pragma once

#include "runtime/job.hpp"
#include "runtime/wire.hpp"

namespace ringside {

class SharedMemoryWire : public Wire {
 public:
  explicit SharedMemoryWire(SharedJob& job) : job_(job) {}

  void push(Message& message) override;
  void release(Message& message) override;
  void answer(Message& lent, const Envelope& back) override;

 private:
  SharedJob& job_;
};

}  // namespace ringside
