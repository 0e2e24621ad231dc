#include "runtime/mailbox.hpp"

namespace ringside {

void Mailbox::push(Message& message) {
  Message* head = head_.load(std::memory_order_relaxed);
  do {
    message.next = head;
  } while (!head_.compare_exchange_weak(head, &message, std::memory_order_seq_cst,
                                        std::memory_order_relaxed));
  bell.ring();
}

Message* Mailbox::take_all() {
  Message* newest = head_.exchange(nullptr, std::memory_order_seq_cst);
  Message* oldest = nullptr;
  while (newest != nullptr) {
    Message* next = newest->next;
    newest->next = oldest;
    oldest = newest;
    newest = next;
  }
  return oldest;
}

}  // namespace ringside
