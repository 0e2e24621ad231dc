// Messages that came in over a socket: they lie on the receiver's own heap until it has taken them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "runtime/message.hpp"

namespace ringside {

struct ReceivedMessage : Message {
  std::uint64_t number = 0;  // at its sender
  std::size_t capacity = 0;
  std::size_t place = 0;  // among all
};

// Made by the thread that reads, given back by the one that receives. Owns them all, also those
// that nobody received. Spare ones are kept, because fresh memory costs a page fault per page.
class ReceivedMessages {
 public:
  ReceivedMessages() = default;
  ReceivedMessages(const ReceivedMessages&) = delete;
  ReceivedMessages& operator=(const ReceivedMessages&) = delete;
  ~ReceivedMessages();

  // With room for a payload of `bytes`, aligned to a cache line.
  ReceivedMessage& make(std::size_t bytes);
  void give_back(ReceivedMessage& message);

 private:
  void destroy(ReceivedMessage& message);

  std::mutex mutex_;
  std::vector<ReceivedMessage*> all_;
  std::multimap<std::size_t, ReceivedMessage*> spare_;  // by capacity
  std::size_t spare_bytes_ = 0;
};

}  // namespace ringside
