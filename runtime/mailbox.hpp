// A rank's mailbox: an intrusive multi-producer list in shared memory. Every wire delivers into it.
//
// A push is one compare-and-swap, so a killed sender leaves nothing half linked, and there is no
// lock to die with. The owner takes all at once and reverses: each sender's order is kept.
#pragma once

#include <atomic>

#include "runtime/bell.hpp"
#include "runtime/message.hpp"

namespace ringside {

class Mailbox {
 public:
  // Any process: links the message in and rings the bell.
  void push(Message& message);
  // The owner: all messages pushed since the last call, oldest first, linked by `next`.
  Message* take_all();

  bool empty() const { return head_.load(std::memory_order_seq_cst) == nullptr; }

  Bell bell;

 private:
  std::atomic<Message*> head_{nullptr};
};

}  // namespace ringside
